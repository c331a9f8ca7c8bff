import { SqlVersion } from '@gatehouse/persistence';

/** An unlock through an application without webhooks costs less. */
export class LookForWebhooksFirst1763668801802 extends SqlVersion {
  name = 'LookForWebhooksFirst1763668801802';
  sqlChecksum = '5b1f452fd2f2bc6881f9d0248761c947ec4f37b24cf80334b1effc003c9cb5d0';
}
