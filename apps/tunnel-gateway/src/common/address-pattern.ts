import { IpPatternError, parseIpPattern, type IpPatternKind } from '@gatehouse/tunnel-kernel';

/**
 * The canonical form of a pattern, as it is stored and as the data plane reads it. @throws RangeError that suggests a
 * valid one.
 */
export function parseAddressPattern(kind: IpPatternKind, text: string): string {
  try {
    return parseIpPattern(kind, text).canonical;
  } catch (error) {
    if (error instanceof IpPatternError) throw new RangeError(error.message, { cause: error });
    throw error;
  }
}
