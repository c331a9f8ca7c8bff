/** The address if it is http or https, else null: what providers write must not become a script or another scheme. */
export function safeLink(address: string | null | undefined): string | null {
  const url = address ? URL.parse(address) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** Words of a free list: separated by commas, spaces or new lines. */
export function splitWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** Lines of a list whose entries may hold spaces. */
export function splitLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
