import type { ChannelOwner } from '../agent/channel-handler.js';
import type { DatagramTransport } from './frames.js';

/** Upper bound for waiting sessions. */
const MAX_SESSIONS = 256;
/** Upper bound for their frames together: the rest is dropped. */
const MAX_BYTES = 1024 * 1024;
/** Estimated overhead of a frame. */
const FRAME_BYTES = 256;

export interface ArrivedFrame {
  owner: ChannelOwner;
  transport: DatagramTransport;
  type: number;
  body: Buffer;
}

/** Frames of sessions whose tunnel the agent does not know yet: datagrams may overtake configurations. */
export class EarlyFrames {
  private readonly sessions = new Map<number, ArrivedFrame[]>();
  private bytes = 0;

  /** Makes the session wait. False: too many wait already. */
  begin(session: number, opening: ArrivedFrame): boolean {
    if (this.sessions.size >= MAX_SESSIONS) return false;
    this.sessions.set(session, []);
    return this.hold(session, opening);
  }

  /** False: the session is not waiting. */
  hold(session: number, frame: ArrivedFrame): boolean {
    const held = this.sessions.get(session);
    if (!held) return false;
    const bytes = FRAME_BYTES + frame.body.length;
    if (this.bytes + bytes > MAX_BYTES) return true;
    this.bytes += bytes;
    // The transport reuses its buffer.
    held.push({ ...frame, body: Buffer.from(frame.body) });
    return true;
  }

  /** Returns the frames of the session, which no longer waits. */
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
