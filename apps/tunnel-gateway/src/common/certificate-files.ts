import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve, sep } from 'node:path';

export interface CertificatePair {
  chain: string;
  key: string;
}

export interface CertificatePaths {
  certPath: string;
  keyPath: string;
}

const MAX_BYTES = 256 * 1024;

interface Known {
  stamp: string;
  pair: CertificatePair | null;
}

/** Certificates in files of one folder, read again when they change. */
export class CertificateFiles {
  private readonly folder: string;
  private readonly onProblem: (message: string) => void;
  private known = new Map<string, Known>();
  /** The known files that hosts of the current configuration use. */
  private used = new Map<string, Known>();

  constructor(folder: string, onProblem: (message: string) => void) {
    this.folder = folder;
    this.onProblem = onProblem;
  }

  /** Null if the files cannot be used, which is reported once for each of their states. */
  pair(paths: CertificatePaths): CertificatePair | null {
    const name = `${paths.certPath}\n${paths.keyPath}`;
    const stamp = this.stampOf(paths);
    const before = this.known.get(name);
    const known = before?.stamp === stamp ? before : { stamp, pair: this.readOrSay(paths) ?? before?.pair ?? null };
    this.known.set(name, known);
    this.used.set(name, known);
    return known.pair;
  }

  /** Called after `pair` was called for every host: drops files that are no longer used. */
  settle(): void {
    this.known = this.used;
    this.used = new Map();
  }

  /** Whether a file has changed since it was read. */
  changed(): boolean {
    return [...this.known].some(([name, { stamp }]) => {
      const [certPath = '', keyPath = ''] = name.split('\n');
      return this.stampOf({ certPath, keyPath }) !== stamp;
    });
  }

  private readOrSay(paths: CertificatePaths): CertificatePair | null {
    try {
      return readCertificatePair(this.folder, paths);
    } catch (error) {
      this.onProblem(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  private stampOf({ certPath, keyPath }: CertificatePaths): string {
    return [certPath, keyPath].map((path) => stampOfFile(resolve(this.folder, path))).join(', ');
  }
}

/** An inaccessible file is a state like any other: it must not affect other hosts. */
function stampOfFile(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'none';
  }
}

/** Reads and checks both files: inside the folder, a certificate and its key. @throws RangeError */
export function readCertificatePair(folder: string, { certPath, keyPath }: CertificatePaths): CertificatePair {
  const chain = readInside(folder, certPath);
  const key = readInside(folder, keyPath);
  const fits = (() => {
    try {
      return new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
    } catch (error) {
      throw new RangeError(`${certPath} and ${keyPath} are not a certificate and a key in PEM`, { cause: error });
    }
  })();
  if (!fits) throw new RangeError(`the key ${keyPath} does not belong to the certificate ${certPath}`);
  return { chain, key };
}

/** A path must not leave the folder, through dots or links. */
function readInside(folder: string, path: string): string {
  let real: string;
  let root: string;
  try {
    root = realpathSync(folder);
    real = realpathSync(isAbsolute(path) ? path : resolve(root, path));
  } catch (error) {
    throw new RangeError(`${path} does not exist in the folder of certificates`, { cause: error });
  }
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw new RangeError(`${path} is not in the folder of certificates`);
  }
  const status = statSync(real);
  if (!status.isFile()) throw new RangeError(`${path} is not a file`);
  if (status.size > MAX_BYTES) throw new RangeError(`${path} is larger than ${MAX_BYTES} bytes`);
  try {
    return readFileSync(real, 'utf8');
  } catch (error) {
    throw new RangeError(`${path} cannot be read by the gateway`, { cause: error });
  }
}
