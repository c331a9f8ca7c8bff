export { resetStream, type ByteStream, type ByteStreamEvents } from './byte-stream.js';
export {
  failFlow,
  guarded,
  guardFlow,
  guardPromise,
  onFlowFailure,
  setFlowInterval,
  setFlowTimeout,
  type Endable,
  type FlowFailure,
} from './flow-boundary.js';
export { freshBytes } from './fresh-bytes.js';
export { NextTurn } from './next-turn.js';
export { FlowFailures } from './flow-failures.js';
export * from './guarded-sockets.js';
export { watchIdle, type ByteCounter, type IdleWatch } from './idle-watch.js';
export { relay, type RelayEnd, type RelayEndReason, type RelayHandle, type RelayOptions } from './relay.js';
export { listenTcp } from './listen.js';
export { bindOnce, freePort, listenOnce } from './free-port.js';
export { ListeningSockets, type HandedSocket, type SocketHandle } from './listening-sockets.js';
export { PendingConnections, type PendingConnectionLimits } from './pending-connections.js';
export { StreamEmitter, CarriedStream } from './carried-stream.js';
export { ShortHmac } from './sha256/short-hmac.js';
export { afterNextPoll, type AfterPoll } from './after-next-poll.js';
export { DialedSocket } from './dialed-socket.js';
export { readAtMost } from './read-at-most.js';
export { withRoomBefore } from './read-memory.js';
export { releaseListenersOnClose } from './release-listeners.js';
export { reuseMemory } from './reuse-memory.js';
export { ByteStreamDuplex } from './duplex.js';
export { ByteReader, ByteReaderError } from './byte-reader.js';
export {
  decodeSocksAddress,
  decodeSocksDatagram,
  encodeSocksAddress,
  encodeSocksDatagram,
  encodeSocksPassword,
  encodeSocksReply,
  encodeSocksRequest,
  readSocksAddress,
  SOCKS5_VERSION,
  SOCKS_COMMAND,
  SOCKS_METHOD,
  SOCKS_PASSWORD_VERSION,
  SOCKS_REPLY,
  SocksError,
  type SocksAddress,
  type SocksDatagram,
  type SocksNameReader,
  type SocksReply,
} from './socks/codec.js';
export {
  maskedWebSocketFrame,
  webSocketFrame,
  webSocketFrameHeader,
  WebSocketFrameReader,
  WebSocketError,
  WEBSOCKET_OPCODE,
  type WebSocketFrameHandlers,
  type WebSocketFrameOptions,
} from './websocket/frames.js';
export { hasToken, switchesTo, webSocketAccept } from './websocket/handshake.js';
export { cidrContains, formatCidr, formatIp, hostCidr, parseCidr, parseIp, type Cidr, type IpAddress } from './cidr.js';
export {
  createSecretBox,
  openFromRow,
  tryOpenFromRow,
  openFromPlace,
  rowPlace,
  sealForRow,
  SecretBoxError,
  type SecretBoxFailure,
  type SealedRow,
  type SecretBox,
} from './secret-box.js';
export { FairQueue } from './fair-queue.js';
export { CountedGcm, MAX_COUNTED_BYTES, type NonceSequence } from './gcm/counted-gcm.js';
export { GuessLimit, type Guess, type GuessLimits } from './guess-limit.js';
export { networkOf } from './client-network.js';
export { isLoopback, isPublicAddress, specialPurposeRanges, type SpecialPurpose } from './special-purpose.js';
export {
  OutboundCallError,
  OutboundCalls,
  type OutboundAnswer,
  type OutboundCallOptions,
  type OutboundRequest,
} from './outbound-calls.js';
export { ForbiddenTargetError, OutboundGuard, type OutboundGuardOptions } from './outbound-guard.js';
export { readOutboundUrl } from './outbound-url.js';
export { asHostName, formatAuthority, formatHostPort } from './host-name.js';
export { hostField, sniffHttpHost, sniffTlsServerName, tlsProtocols, type SniffResult } from './sniff.js';
export { readHeaderLine } from './header-line.js';
export {
  RequestTurns,
  serveInTurn,
  type RequestTurn,
  type RequestTurnsOptions,
  type TurnHandlers,
} from './request-turns.js';
export { finalStatus, writeStatusLine } from './status-line.js';
export { LimiterChain } from './limiter-chain.js';
export { RateLimiter } from './rate-limiter.js';
export { type Pacer, type Throttle, type ThrottleWaiter } from './relay-throttle.js';
export { dialControl, type ControlDial } from './control/control-client.js';
export {
  formatControlEndpoint,
  localControlEndpoint,
  parseControlEndpoint,
  type ControlEndpoint,
} from './control/control-endpoint.js';
export { deriveControlKey, type ControlKey } from './control/control-key.js';
export { ChannelError, ChannelPeer, type ChannelHandlers } from './control/channel-peer.js';
export { PendingRequests, type StartTimer } from './control/pending-requests.js';
export { ControlLink, type ControlLinkLimits } from './control/control-link.js';
export { ControlServer, type ControlServerOptions } from './control/control-server.js';
export { processLoad, type ProcessLoad } from './process-load.js';
export { keepOwner, makePrivateFolder, writePrivate, writePrivately, writePrivateOnce } from './private-files.js';
export { addCounts, MAX_COUNT } from './whole-numbers.js';
