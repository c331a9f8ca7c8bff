/** The parts of the protocol, for programs that speak or break it by hand: fuzzers and probes. */
export { FrameCutter } from './datagrams/frame-cutter.js';
export {
  decodeAddress as decodeDatagramAddress,
  decodeOpening as decodeDatagramOpening,
  encodeOpening as encodeDatagramOpening,
  FRAME as DATAGRAM_FRAME,
  FRAME_HEADER_BYTES as DATAGRAM_HEADER_BYTES,
  readFrames as readDatagramFrames,
  SESSION_BYTES as DATAGRAM_SESSION_BYTES,
  sessionOf as datagramSession,
  writeHeader as writeDatagramHeader,
} from './datagrams/frames.js';
export { MuxConnection } from './mux/mux-connection.js';
export { MUX_FRAME, muxHeader, muxNumber } from './mux/mux-frames.js';
export { type MuxTransport, type MuxTransportHandlers } from './mux/mux-transport.js';
export { checkUpgradeAnswer, readRequestHead, upgradeAnswer, upgradeRequest } from './websocket/handshake.js';
export { decodeMessage, encodeMessage, frameLimit, type Side } from './wire/codec.js';
export { FrameDecoder } from './wire/frame.js';
export { FramedStream } from './wire/framed-stream.js';
export { type ReusableChannelStream } from './wire/reusable-channel-stream.js';
export { channelKeys, MAX_RECORD_BYTES, RecordOpener, RecordSealer } from './wire/sealed-records.js';
export { SealedStream } from './wire/sealed-stream.js';
export { decodeStart, encodeOpening, encodeStart, openingTicketId } from './wire/prelude.js';
export { decodeVisit, VISIT_BYTES } from './wire/visit.js';
