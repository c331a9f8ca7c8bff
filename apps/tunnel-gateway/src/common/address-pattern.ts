import { IpPatternError, parseIpPattern, type IpPatternKind } from '@gatehouse/tunnel-kernel';

/** The pattern of a rule as it is stored: canonical, as the data plane reads it. @throws RangeError that says what would be right. */
export function parseAddressPattern(kind: IpPatternKind, text: string): string {
  try {
    return parseIpPattern(kind, text).canonical;
  } catch (error) {
    if (error instanceof IpPatternError) throw new RangeError(error.message, { cause: error });
    throw error;
  }
}
