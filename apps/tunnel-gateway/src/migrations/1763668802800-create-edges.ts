import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which edge processes run, and what each of them says about tunnels. `data/sql/edges.sql` has the rules. */
export class CreateEdges1763668802800 implements MigrationInterface {
  name = 'CreateEdges1763668802800';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of TABLES) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const functions = [
      'renew_edge',
      'sweep_edges',
      'release_edge',
      'remove_edges',
      'write_tunnel_states',
      'aggregate_run_status',
    ];
    for (const name of functions) await queryRunner.query(`DROP FUNCTION IF EXISTS tunnel_gateway_ops.${name}`);
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.tunnel_states');
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.edges');
    await queryRunner.query('DROP FUNCTION IF EXISTS tunnel_gateway_ops.announce_edges');
  }
}

const TABLES = [
  // One row for each process; `edge` is the same for a process and those that replace it.
  `CREATE TABLE tunnel_gateway_ops.edges (
    id uuid PRIMARY KEY,
    edge uuid NOT NULL,
    name text NOT NULL,
    worker integer NOT NULL,
    workers integer NOT NULL,
    version text NOT NULL,
    pid integer NOT NULL,
    started_at timestamptz NOT NULL,
    state text NOT NULL CONSTRAINT edges_state_check CHECK (state IN ('starting', 'serving', 'draining', 'drained')),
    wanted text NOT NULL CONSTRAINT edges_wanted_check CHECK (wanted IN ('serving', 'drained')),
    public_agents text,
    public_http text,
    public_https text,
    peer_address text,
    agents_address text,
    revision bigint NOT NULL,
    agents integer NOT NULL,
    connections integer NOT NULL,
    load real NOT NULL,
    lease_until timestamptz NOT NULL
  )`,
  // A process that replaces another one writes the rows of the same edge.
  `CREATE TABLE tunnel_gateway_ops.tunnel_states (
    edge uuid NOT NULL,
    tunnel_id bigint NOT NULL CONSTRAINT tunnel_states_tunnel_fk REFERENCES tunnel_gateway.tunnels (id) ON DELETE CASCADE,
    process uuid NOT NULL CONSTRAINT tunnel_states_process_fk REFERENCES tunnel_gateway_ops.edges (id),
    status integer NOT NULL CONSTRAINT tunnel_states_status_check CHECK (status BETWEEN 1 AND 3),
    error text,
    PRIMARY KEY (edge, tunnel_id)
  )`,
  'CREATE INDEX tunnel_states_tunnel_idx ON tunnel_gateway_ops.tunnel_states (tunnel_id)',
  'CREATE INDEX tunnel_states_process_idx ON tunnel_gateway_ops.tunnel_states (process)',
];
