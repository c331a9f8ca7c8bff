/** RFC 6749 section 2.3.1. */
export function basic(clientId, secret) {
  const halves = [clientId, secret].map((half) => encodeURIComponent(half));
  return `Basic ${Buffer.from(halves.join(':')).toString('base64')}`;
}
