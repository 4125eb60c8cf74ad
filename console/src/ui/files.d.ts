/** Files that Vite resolves and that hold no types. */
declare module "*.css";
