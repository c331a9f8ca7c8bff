/** 1 to 255 bytes without control characters or spaces, which would travel into logs and other protocols. */
export function isHostName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return name.length > 0 && name.length <= 255 && !/[\u0000-\u0020\u007f]/.test(name);
}
