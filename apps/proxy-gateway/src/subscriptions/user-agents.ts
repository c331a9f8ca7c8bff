/** Panels that sniff the client send Clash YAML to one family and base64 links to the other. */
const CLASH_FAMILY = /clash|mihomo|stash|meta|verge|surge|sing-box/i;
const CLASH_AGENT = 'clash.meta/1.19 gatehouse';
const LINKS_AGENT = 'v2rayN/7.12';

/** A name of the other family than the one given. */
export function otherFamily(userAgent: string): string {
  return CLASH_FAMILY.test(userAgent) ? LINKS_AGENT : CLASH_AGENT;
}
