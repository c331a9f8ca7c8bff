import { BlockList, isIPv4 } from 'node:net';

/** Addresses from which a credential is accepted; an empty list accepts all. */
export class AddressRanges {
  private readonly ranges: BlockList | undefined;

  /** `texts`: addresses or CIDR ranges, IPv4 or IPv6, valid ones. */
  constructor(texts: readonly string[]) {
    if (texts.length === 0) return;
    const ranges = new BlockList();
    for (const text of texts) {
      const [address = '', bits] = text.split('/');
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (bits === undefined) ranges.addAddress(address, family);
      else ranges.addSubnet(address, Number(bits), family);
    }
    this.ranges = ranges;
  }

  allows(ip: string | undefined): boolean {
    if (this.ranges === undefined) return true;
    if (ip === undefined) return false;
    // A socket for both families shows an IPv4 client in this form.
    const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] ?? ip;
    return this.ranges.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  }
}
