import type { ChannelOwner } from '../agent/channel-handler.js';
import type { DatagramTransport } from './frames.js';

/** Sessions that wait at a time. */
const MAX_SESSIONS = 256;
/** Of all that wait: more is dropped. */
const MAX_BYTES = 1024 * 1024;
/** What a frame takes beside its body. */
const FRAME_BYTES = 256;

export interface ArrivedFrame {
  owner: ChannelOwner;
  transport: DatagramTransport;
  type: number;
  body: Buffer;
}

/** Frames of sessions whose tunnel the agent has not been told of yet: datagrams overtake configurations. */
export class EarlyFrames {
  private readonly sessions = new Map<number, ArrivedFrame[]>();
  private bytes = 0;

  /** From now on the session waits. False: there is no room for another. */
  begin(session: number, opening: ArrivedFrame): boolean {
    if (this.sessions.size >= MAX_SESSIONS) return false;
    this.sessions.set(session, []);
    return this.hold(session, opening);
  }

  /** False: the session does not wait. */
  hold(session: number, frame: ArrivedFrame): boolean {
    const held = this.sessions.get(session);
    if (!held) return false;
    const bytes = FRAME_BYTES + frame.body.length;
    if (this.bytes + bytes > MAX_BYTES) return true;
    this.bytes += bytes;
    // The buffer is the lane's.
    held.push({ ...frame, body: Buffer.from(frame.body) });
    return true;
  }

  /** The session waits no more. */
  take(session: number): ArrivedFrame[] {
    const held = this.sessions.get(session) ?? [];
    this.sessions.delete(session);
    for (const { body } of held) this.bytes -= FRAME_BYTES + body.length;
    return held;
  }

  clear(): void {
    this.sessions.clear();
    this.bytes = 0;
  }
}
