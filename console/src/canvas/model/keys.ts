/** Keys of what is added in a draft: ten random base-62 characters. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 10;

/** Gives a key at each call. */
export type Fresh = () => string;

/** Keys from random bytes. A byte above the largest multiple of 62 is passed over, so that each digit is as likely. */
export function fresh(bytes: (count: number) => Uint8Array): Fresh {
  return () => {
    let made = "";
    while (made.length < LENGTH) {
      for (const byte of bytes(LENGTH * 2)) {
        if (byte < 248 && made.length < LENGTH) made += DIGITS.charAt(byte % 62);
      }
    }
    return made;
  };
}
