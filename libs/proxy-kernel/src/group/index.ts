export { BUILT_IN_POLICIES, type GroupMemory } from './compile-groups.js';
export {
  createPolicyTable,
  type HealthView,
  type PolicyTableOptions,
  type SelectablePolicyTable,
} from './policy-table.js';
