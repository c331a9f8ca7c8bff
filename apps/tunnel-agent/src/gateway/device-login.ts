import type { DeviceCodesView, DeviceLoginView } from '@gatehouse/contracts';
import { GatewayError, type GatewayApi } from './gateway-api.js';
import type { KeptLogin } from './kept-logins.js';

/** Whatever the gateway says, this machine asks neither every moment nor next to never. */
const SHORTEST_S = 1;
const LONGEST_S = 60;
const LONGEST_LIFE_S = 1_800;

export interface DeviceLoginContext {
  /** What the user sees in the console, and the key is called. */
  machine: string;
  /** Shows the codes to the user. */
  show: (codes: DeviceCodesView) => void;
  /** Rejects when the user no longer wants to. */
  wait: (ms: number) => Promise<void>;
  now: () => number;
}

/** The user refused, or the code has expired. */
export class LoginRefused extends Error {
  readonly reason: 'denied' | 'expired';

  constructor(reason: 'denied' | 'expired') {
    super(reason);
    this.name = 'LoginRefused';
    this.reason = reason;
  }
}

/** Asks until the user has approved (RFC 8628 section 3.4). @throws GatewayError, LoginRefused */
export async function logInByCode(api: GatewayApi, context: DeviceLoginContext): Promise<KeptLogin> {
  const { machine, show, wait, now } = context;
  const codes = await api.call<DeviceCodesView>('POST', '/auth/device', { machine });
  assertShowable(codes);
  show(codes);
  const until = now() + Math.min(codes.expires_in, LONGEST_LIFE_S) * 1_000;
  let { interval } = codes;
  while (now() < until) {
    await wait(Math.min(Math.max(interval, SHORTEST_S), LONGEST_S) * 1_000);
    const answer = await ask(api, codes.device_code);
    if (answer === null) {
      // Section 3.5: a gateway that does not answer is asked less and less often.
      interval *= 2;
      continue;
    }
    const { status, api_key: key, username } = answer;
    if (status === 'approved' && key !== null && /^gtk_\w+$/.test(key))
      return { api_key: key, username: username ?? '' };
    if (status === 'access_denied') throw new LoginRefused('denied');
    if (status === 'expired_token') throw new LoginRefused('expired');
    ({ interval } = answer);
  }
  throw new LoginRefused('expired');
}

/** Null: the gateway did not answer, or is busy. @throws GatewayError for a refusal */
async function ask(api: GatewayApi, code: string): Promise<DeviceLoginView | null> {
  try {
    return await api.call<DeviceLoginView>('POST', '/auth/device/token', { device_code: code });
  } catch (error) {
    const { status } = error as GatewayError;
    if (error instanceof GatewayError && (status === 0 || status === 429 || status >= 500)) return null;
    throw error;
  }
}

/** They go to a terminal, which control characters would steer. @throws GatewayError */
function assertShowable(codes: DeviceCodesView): void {
  const { verification_uri: page, verification_uri_complete: complete, user_code: code } = codes;
  const areFine = [page, complete].every((address) => /^https?:\/\/[\x21-\x7e]+$/.test(address));
  if (!areFine || !/^[A-Z0-9-]{1,32}$/.test(code)) throw new GatewayError('the answer cannot be read', 200);
}
