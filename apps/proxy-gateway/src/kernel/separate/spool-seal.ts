import { randomBytes } from 'node:crypto';
import { createSecretBox, type SecretBox } from '@gatehouse/persistence';
import type { SpoolOptions } from '../record-spool.js';

/** Far below the number of texts (2^32) at which random nonces of one key may collide. */
const LINES_PER_KEY = 2 ** 28;

/** Seals lines with keys of their own, because there are too many lines for the box's key. The box seals those keys. */
export function spoolSeal(box: SecretBox): Required<Pick<SpoolOptions, 'seal' | 'open'>> {
  const known = new Map<string, SecretBox>();
  let [current, lines] = [newKey(box), 0];
  const boxOf = (sealedKey: string): SecretBox => {
    const opened = known.get(sealedKey) ?? createSecretBox([Buffer.from(box.open(sealedKey), 'base64')]);
    known.set(sealedKey, opened);
    return opened;
  };
  return {
    seal(text) {
      if (++lines > LINES_PER_KEY) [current, lines] = [newKey(box), 1];
      return `${current.sealedKey} ${current.box.seal(text)}`;
    },
    open(line) {
      const [sealedKey = '', sealed = ''] = line.split(' ');
      return boxOf(sealedKey).open(sealed);
    },
  };
}

function newKey(box: SecretBox): { sealedKey: string; box: SecretBox } {
  const key = randomBytes(32);
  return { sealedKey: box.seal(key.toString('base64')), box: createSecretBox([key]) };
}
