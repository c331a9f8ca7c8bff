import { openAsnLookup, openCountryDatabase, readBundledCountryFile } from '@gatehouse/geo';
import type { IpPatternKind } from '@gatehouse/tunnel-kernel';
import { AddressFile } from './address-file.js';

export interface AddressFilePaths {
  /** Null: the bundled file. */
  geoFile: string | null;
  /** Null: there is none. */
  asnFile: string | null;
}

/** The databases that rules ask about addresses. */
export class AddressFiles {
  readonly countries: AddressFile<string>;
  readonly systems: AddressFile<number>;

  constructor({ geoFile, asnFile }: AddressFilePaths, onProblem: (message: string) => void) {
    const countries = { contents: 'countries', setting: 'GEOIP_FILE', bundled: readBundledCountryFile };
    const systems = { contents: 'autonomous systems', setting: 'GEOIP_ASN_FILE', bundled: null };
    const openCountries = (file: Buffer): ((address: string) => string | null) => openCountryDatabase(file).lookup;
    this.countries = new AddressFile(geoFile, { ...countries, open: openCountries }, onProblem);
    this.systems = new AddressFile(asnFile, { ...systems, open: openAsnLookup }, onProblem);
  }

  /** Reads those that rules of these kinds need, if they have changed. True: lookups may have other results now. */
  load(kinds: ReadonlySet<IpPatternKind>): boolean {
    const others = [kinds.has('country') && this.countries.load(), kinds.has('asn') && this.systems.load()];
    return others.includes(true);
  }
}
