-- Leases of edge processes and their states of tunnels. Of EdgeMember and RunStatusWriter (src/edge), which call the
-- functions, and of every reader of tunnels.run_status.
--
-- Promises: run_status is the best state that any edge reports: 1 (running), else 3 (error), else 2 (waiting), else 0.
-- Whoever writes states of a tunnel holds its row, so two edges at once leave the state of both. Locks are taken in the
-- order edges, tunnels (by id), tunnel_states. Leases are measured by the clock of the database alone. States of a
-- process count until its lease is removed; nobody removes leases right after a time in which nobody could renew them.

-- Sets run_status of tunnels whose rows the caller holds.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.aggregate_run_status(of_tunnels bigint[]) RETURNS void LANGUAGE sql AS $$
  UPDATE tunnel_gateway.tunnels t SET run_status = best.status
  FROM (
    SELECT w.id, coalesce((
      SELECT CASE WHEN bool_or(s.status = 1) THEN 1 WHEN bool_or(s.status = 3) THEN 3 ELSE max(s.status) END
      FROM tunnel_gateway_ops.tunnel_states s WHERE s.tunnel_id = w.id
    ), 0) AS status
    FROM unnest(of_tunnels) AS w (id)
  ) AS best
  WHERE t.id = best.id AND t.run_status <> best.status
$$;

-- The states that a process reports: all of them (`everything`), or those that changed. 0 means that the tunnel is not
-- served. Tunnels of other clients than `of_clients` are ignored (null: none are). False: the process has no lease, and
-- nothing was written.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.write_tunnel_states(
  of_process uuid, ids bigint[], statuses integer[], errors text[], of_clients bigint[], everything boolean
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  of_edge uuid;
  touched bigint[] := ids;
BEGIN
  SELECT e.edge INTO of_edge FROM tunnel_gateway_ops.edges e WHERE e.id = of_process FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF everything THEN
    touched := ARRAY(
      SELECT said.id FROM unnest(ids, statuses, errors) AS said (id, status, error)
        LEFT JOIN tunnel_gateway_ops.tunnel_states s ON s.edge = of_edge AND s.tunnel_id = said.id
      WHERE (s.process, s.status, s.error) IS DISTINCT FROM (of_process, said.status, said.error)
      UNION
      SELECT s.tunnel_id FROM tunnel_gateway_ops.tunnel_states s WHERE s.edge = of_edge AND NOT (s.tunnel_id = ANY (ids))
      UNION
      SELECT t.id FROM tunnel_gateway.tunnels t LEFT JOIN (
        SELECT s.tunnel_id,
          CASE WHEN bool_or(s.status = 1) THEN 1 WHEN bool_or(s.status = 3) THEN 3 ELSE max(s.status) END AS status
        FROM tunnel_gateway_ops.tunnel_states s GROUP BY s.tunnel_id
      ) AS best ON best.tunnel_id = t.id
      WHERE t.run_status <> coalesce(best.status, 0)
    );
  END IF;
  touched := ARRAY(
    SELECT t.id FROM tunnel_gateway.tunnels t
    WHERE t.id = ANY (touched) AND (of_clients IS NULL OR t.client_id = ANY (of_clients))
    ORDER BY t.id FOR NO KEY UPDATE
  );
  IF cardinality(touched) = 0 THEN
    RETURN true;
  END IF;
  DELETE FROM tunnel_gateway_ops.tunnel_states s
  WHERE s.edge = of_edge AND s.tunnel_id = ANY (touched)
    AND NOT EXISTS (SELECT FROM unnest(ids, statuses) AS said (id, status) WHERE said.id = s.tunnel_id AND said.status <> 0);
  INSERT INTO tunnel_gateway_ops.tunnel_states (edge, tunnel_id, process, status, error)
  SELECT of_edge, said.id, of_process, said.status, said.error
  FROM unnest(ids, statuses, errors) AS said (id, status, error)
  WHERE said.status <> 0 AND said.id = ANY (touched)
  ON CONFLICT (edge, tunnel_id) DO UPDATE
    SET process = EXCLUDED.process, status = EXCLUDED.status, error = EXCLUDED.error;
  PERFORM tunnel_gateway_ops.aggregate_run_status(touched);
  RETURN true;
END $$;

-- Takes the lease of a process, or extends it. `fresh`: it had none, so its states are to be written again. `wanted`:
-- what an administrator wants of it. `expired`: there are leases to remove (sweep_edges).
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.renew_edge(lease jsonb, OUT fresh boolean, OUT wanted text, OUT expired boolean)
LANGUAGE plpgsql AS $$
DECLARE
  said tunnel_gateway_ops.edges := jsonb_populate_record(NULL::tunnel_gateway_ops.edges, lease);
  known tunnel_gateway_ops.edges;
BEGIN
  -- A lease that a crash of the database loses is taken again.
  PERFORM set_config('synchronous_commit', 'off', true);
  said.lease_until := clock_timestamp() + interval '10 seconds';
  SELECT * INTO known FROM tunnel_gateway_ops.edges e WHERE e.id = said.id FOR NO KEY UPDATE;
  fresh := NOT FOUND;
  IF fresh THEN
    said.wanted := 'serving';
    said.started_at := coalesce(said.started_at, clock_timestamp());
    INSERT INTO tunnel_gateway_ops.edges SELECT said.*;
  ELSIF (known.state, known.public_agents, known.public_http, known.public_https, known.peer_address, known.agents_address)
    IS DISTINCT FROM
    (said.state, said.public_agents, said.public_http, said.public_https, said.peer_address, said.agents_address) THEN
    UPDATE tunnel_gateway_ops.edges e SET state = said.state, public_agents = said.public_agents,
      public_http = said.public_http, public_https = said.public_https, peer_address = said.peer_address,
      agents_address = said.agents_address, revision = said.revision, agents = said.agents,
      connections = said.connections, load = said.load, lease_until = said.lease_until
    WHERE e.id = said.id;
  ELSE
    UPDATE tunnel_gateway_ops.edges e SET revision = said.revision, agents = said.agents,
      connections = said.connections, load = said.load, lease_until = said.lease_until
    WHERE e.id = said.id;
  END IF;
  wanted := coalesce(known.wanted, said.wanted);
  expired := coalesce(known.lease_until > clock_timestamp(), false)
    AND EXISTS (SELECT FROM tunnel_gateway_ops.edges e WHERE e.lease_until < clock_timestamp());
END $$;

-- Removes leases, with the states of their processes.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.remove_edges(gone uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  touched bigint[];
BEGIN
  touched := ARRAY(
    SELECT t.id FROM tunnel_gateway.tunnels t
    WHERE t.id IN (SELECT s.tunnel_id FROM tunnel_gateway_ops.tunnel_states s WHERE s.process = ANY (gone))
    ORDER BY t.id FOR NO KEY UPDATE
  );
  DELETE FROM tunnel_gateway_ops.tunnel_states s WHERE s.process = ANY (gone);
  DELETE FROM tunnel_gateway_ops.edges e WHERE e.id = ANY (gone);
  PERFORM tunnel_gateway_ops.aggregate_run_status(touched);
END $$;

-- Removes leases that were not renewed. Of several callers one does it.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.sweep_edges() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone uuid[];
BEGIN
  gone := ARRAY(
    SELECT e.id FROM tunnel_gateway_ops.edges e WHERE e.lease_until < clock_timestamp()
    ORDER BY e.id FOR UPDATE SKIP LOCKED
  );
  IF cardinality(gone) > 0 THEN
    PERFORM tunnel_gateway_ops.remove_edges(gone);
  END IF;
END $$;

-- Ends the lease of a process. `replaced`: its states stay until the process that replaces it has written its own.
CREATE OR REPLACE FUNCTION tunnel_gateway_ops.release_edge(of_process uuid, replaced boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  of_edge uuid;
  next uuid;
BEGIN
  SELECT e.edge INTO of_edge FROM tunnel_gateway_ops.edges e WHERE e.id = of_process FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT e.id INTO next FROM tunnel_gateway_ops.edges e
  WHERE replaced AND e.edge = of_edge AND e.id <> of_process AND e.state IN ('starting', 'serving') AND e.lease_until > clock_timestamp()
  ORDER BY e.started_at DESC LIMIT 1 FOR KEY SHARE;
  IF next IS NOT NULL THEN
    UPDATE tunnel_gateway_ops.tunnel_states s SET process = next WHERE s.process = of_process;
  END IF;
  PERFORM tunnel_gateway_ops.remove_edges(ARRAY[of_process]);
END $$;

CREATE OR REPLACE FUNCTION tunnel_gateway_ops.announce_edges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tunnel_gateway:edges', '');
  RETURN NULL;
END $$;

-- Renewals change none of these columns.
CREATE OR REPLACE TRIGGER edges_announce
  AFTER INSERT OR DELETE OR
    UPDATE OF state, wanted, public_agents, public_http, public_https, peer_address, agents_address
  ON tunnel_gateway_ops.edges
  FOR EACH STATEMENT EXECUTE FUNCTION tunnel_gateway_ops.announce_edges();
