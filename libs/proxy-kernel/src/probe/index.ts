export { Deadline } from './deadline.js';
export { parseExitAddress } from './exit-address.js';
export { parseExpectedStatus } from './expected-status.js';
export { ProbeConnection, hostOf, portOf, readBody, type ProbeAnswer } from './probe-connection.js';
export { measureAll, slideOver } from './sliding-window.js';
export { StageClock, roundMs } from './stage-clock.js';
