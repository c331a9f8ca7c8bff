/** Name of this authorization server, from the service's public address (RFC 8414 section 2). */
export function issuerOf({ publicUrl }: { readonly publicUrl: string }): string {
  return publicUrl.replace(/\/+$/, '');
}

/** The resource that tokens are for (RFC 8707). */
export function resourceOf(issuer: string): string {
  return `${issuer}/api/open`;
}
