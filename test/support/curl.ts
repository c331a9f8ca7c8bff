import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface CurlAnswer {
  status: number;
  /** Bytes of the body. */
  bytes: number;
}

/** Fetches by the real curl; the body is thrown away. @throws Error with curl's own message. */
export async function curl(binary: string, args: string[]): Promise<CurlAnswer> {
  const format = '%{http_code} %{size_download}';
  const { stdout } = await run(binary, ['-sS', '--max-time', '60', '-o', '/dev/null', '-w', format, ...args]);
  const [status, bytes] = stdout.trim().split(' ');
  return { status: Number(status), bytes: Number(bytes) };
}
