import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  // Rows arrive at the end of a flow, so the newest end is the newest row and each day is one partition to drop.
  `CREATE TABLE traffic_logs (
    id bigserial NOT NULL,
    started_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3) NOT NULL,
    client_ip text NOT NULL,
    client_port integer NOT NULL,
    inbound text NOT NULL,
    inbound_user text,
    network text NOT NULL,
    method text,
    host text,
    target_port integer NOT NULL,
    destination_ip text,
    url text,
    rule_id bigint,
    rule_type text,
    rule_payload text,
    chains jsonb NOT NULL,
    node_id bigint,
    node_name text,
    node_country text,
    exit_ip text,
    upload bigint NOT NULL,
    download bigint NOT NULL,
    status text NOT NULL,
    http_status integer,
    error_stage text,
    error_kind text,
    error_errno text,
    error_message text,
    close_reason text,
    search_text text NOT NULL,
    PRIMARY KEY (ended_at, id)
  ) PARTITION BY RANGE (ended_at)`,
  // Rows in each partition, so that counting them all reads one row a day.
  `CREATE TABLE traffic_log_days (
    day date PRIMARY KEY,
    row_count bigint NOT NULL
  )`,
  `CREATE TABLE traffic_domain_hourly (
    hour timestamptz(0) NOT NULL,
    domain text NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    upload bigint NOT NULL,
    download bigint NOT NULL,
    last_seen_at timestamptz(3) NOT NULL,
    PRIMARY KEY (hour, domain)
  )`,
  `CREATE TABLE traffic_node_hourly (
    hour timestamptz(0) NOT NULL,
    outbound text NOT NULL,
    node_id bigint,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    upload bigint NOT NULL,
    download bigint NOT NULL,
    last_seen_at timestamptz(3) NOT NULL,
    PRIMARY KEY (hour, outbound)
  )`,
  `CREATE TABLE traffic_totals (
    outbound text PRIMARY KEY,
    node_id bigint,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    upload bigint NOT NULL,
    download bigint NOT NULL,
    last_seen_at timestamptz(3) NOT NULL
  )`,
  // The last batch each writer has committed: a batch whose answer was lost is not applied twice.
  `CREATE TABLE accounting_writers (
    id uuid PRIMARY KEY,
    sequence bigint NOT NULL,
    updated_at timestamptz(3) NOT NULL
  )`,
];

export class CreateTraffic1763668800220 implements MigrationInterface {
  name = 'CreateTraffic1763668800220';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const sql of TABLES) await queryRunner.query(sql);
    await queryRunner.query(
      'CREATE INDEX traffic_totals_node_idx ON traffic_totals (node_id) WHERE node_id IS NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const names = ['accounting_writers', 'traffic_totals', 'traffic_node_hourly', 'traffic_domain_hourly'];
    for (const name of [...names, 'traffic_log_days', 'traffic_logs']) await queryRunner.query(`DROP TABLE ${name}`);
  }
}
