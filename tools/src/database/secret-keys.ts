import { findSecretKeys, SecretKeyError } from '@gatehouse/persistence/server';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { localizedText } from '../../bootstrap/language.mjs';

/** Keys in the environment; undefined without any. An empty variable counts as not set, as it does for the services. */
export function secretKeyText(env: NodeJS.ProcessEnv): string | undefined {
  return env['GATEHOUSE_SECRET_KEYS']?.trim() || env['GATEHOUSE_SECRET_KEY']?.trim() || undefined;
}

/** The secret keys that services of this environment would use; none where there is none yet. @throws PlainFailure */
export function secretKeysOf(env: NodeJS.ProcessEnv, home: string): Buffer[] {
  try {
    return [...(findSecretKeys({ home, envValue: secretKeyText(env) }) ?? [])];
  } catch (cause) {
    if (cause instanceof SecretKeyError) throw new PlainFailure(localizedText(cause.text), { cause });
    throw cause;
  }
}
