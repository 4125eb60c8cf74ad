/** Gives a new key at each call: ten random base-62 characters, for what is added in a draft. */
export type Fresh = () => string;
