const MAX_FIELDS = 32;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,1024}$/;

/** How a message is framed and who is asking is the gateway's to say. */
const NOT_FOR_PEOPLE =
  /^(connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*|host|x-forwarded-.*|forwarded|expect|:.*)$/i;

/** Whether a value is names and texts of header fields that people may set. */
export function isHeaderMap(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const fields = Object.entries(value);
  if (fields.length > MAX_FIELDS) return false;
  return fields.every(
    ([name, text]) => NAME.test(name) && !NOT_FOR_PEOPLE.test(name) && typeof text === 'string' && VALUE.test(text),
  );
}
