/** Keys as they are printed on this machine: `⌘` stands for Ctrl where there is no ⌘. */
const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function keyNames(keys: string): string {
  return isApple ? keys : keys.replaceAll("⇧ ⌘", "Ctrl Shift").replaceAll("⌘", "Ctrl").replaceAll("⇧", "Shift");
}
