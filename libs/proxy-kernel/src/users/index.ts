export { inGroup, withoutOtherGroup } from './listener-group.js';
export { readLogin, userOfLogin } from './login-name.js';
export { NodeLabels } from './node-labels.js';
export { NodeSessions } from './node-sessions.js';
export { UserAccounts, type UserAccount } from './user-accounts.js';
export { WishError, parseWishes, printWishes } from './wishes.js';
export { explainWishedWay, wishedWay, type WishParts } from './wished-way.js';
