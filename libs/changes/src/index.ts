export { ChangePermit } from './change-permit.js';
export { ChangesModule, type ChangesOptions } from './changes.module.js';
