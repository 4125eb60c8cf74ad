/** Whether only the quick tests are run, as by `make test`. `npm test` and `make check` run all of them. */
export const QUICK = process.env["STEPLESS_QUICK"] === "1";
