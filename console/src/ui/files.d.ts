/** Files that Vite resolves and that hold no types. */
declare module "*.css";
declare module "*.yaml?raw" {
  const text: string;
  export default text;
}
