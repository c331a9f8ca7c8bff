/** An SQL pattern for texts that contain this one; `%`, `_` and `\` stand for themselves. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
