import { findSecretKeys, SecretKeyError } from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';

/** The secret keys that services of this environment would use; none where there is none yet. Raises PlainFailure. */
export function secretKeysOf(env: NodeJS.ProcessEnv, home: string): Buffer[] {
  try {
    const envValue = env['GATEHOUSE_SECRET_KEYS'] ?? env['GATEHOUSE_SECRET_KEY'];
    return [...(findSecretKeys({ home, envValue }) ?? [])];
  } catch (cause) {
    if (cause instanceof SecretKeyError) throw new PlainFailure(cause.message, { cause });
    throw cause;
  }
}
