import { parseCidr, parseIp } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';

/** Checks the field `allowed_addresses`. @throws AppError INVALID_ARGUMENT */
export function checkAddresses(addresses: readonly string[]): void {
  for (const [index, address] of addresses.entries()) {
    if (parseCidr(address) !== null || parseIp(address) !== null) continue;
    const [field, message] = [`allowed_addresses.${index}`, 'must be an address or a network such as 203.0.113.0/24'];
    throw new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
  }
}
