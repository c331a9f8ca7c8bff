export { bareEnvironment } from './bare-environment.js';
export { ChildLink, type Calls, type ChildLike, type ChildLinkOptions, type HeartbeatOptions } from './child-link.js';
export { SYSTEM_CLOCK, type Clock } from './clock.js';
export { RestartWaits } from './restart-waits.js';
