import { SqlVersion } from '@gatehouse/persistence';

/** New shares write messages to those who subscribed to their title. */
export class UseSubscriptionSql1763668801822 extends SqlVersion {
  name = 'UseSubscriptionSql1763668801822';
  sqlChecksum = '65c8344c73fa363973993319cd06402c429b5de6a60c5de3028ba90641e03d0c';
}
