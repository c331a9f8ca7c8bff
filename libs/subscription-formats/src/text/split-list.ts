/** The parts of a list with commas, trimmed, without empty ones. Undefined: there is no list. */
export function splitList(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
