// How node-oidc-provider keeps what it issues: one table, one prepared statement an operation, none of them more than needed.

const COLUMNS = 'model text, id text, payload jsonb, grant_id text, uid text, user_code text';
export const SCHEMA = `
  CREATE TABLE oidc_payloads (${COLUMNS}, expires_at timestamptz, consumed_at timestamptz, PRIMARY KEY (id, model));
  CREATE INDEX ON oidc_payloads (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX ON oidc_payloads (uid) WHERE uid IS NOT NULL;
  CREATE INDEX ON oidc_payloads (user_code) WHERE user_code IS NOT NULL;`;

const FOUND = 'payload, extract(epoch FROM consumed_at)::integer AS consumed';
const STATEMENTS = {
  upsert: `
    INSERT INTO oidc_payloads (model, id, payload, grant_id, uid, user_code, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
    ON CONFLICT (id, model) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
      user_code = excluded.user_code, expires_at = excluded.expires_at`,
  find: `SELECT ${FOUND} FROM oidc_payloads WHERE model = $1 AND id = $2`,
  findByUid: `SELECT ${FOUND} FROM oidc_payloads WHERE model = $1 AND uid = $2`,
  findByUserCode: `SELECT ${FOUND} FROM oidc_payloads WHERE model = $1 AND user_code = $2`,
  consume: 'UPDATE oidc_payloads SET consumed_at = now() WHERE model = $1 AND id = $2',
  destroy: 'DELETE FROM oidc_payloads WHERE model = $1 AND id = $2',
  revokeByGrantId: 'DELETE FROM oidc_payloads WHERE model = $1 AND grant_id = $2',
};

/** The adapter's class, as node-oidc-provider wants it: made once for each of its models. */
export function adapterOn(pool) {
  const run = (name, values) => pool.query({ name, text: STATEMENTS[name], values });
  return class PostgresAdapter {
    constructor(model) {
      this.model = model;
    }

    async upsert(id, payload, expiresIn) {
      const { grantId = null, uid = null, userCode = null } = payload;
      await run('upsert', [this.model, id, JSON.stringify(payload), grantId, uid, userCode, expiresIn ?? null]);
    }

    find(id) {
      return this.#first('find', id);
    }

    findByUid(uid) {
      return this.#first('findByUid', uid);
    }

    findByUserCode(userCode) {
      return this.#first('findByUserCode', userCode);
    }

    async consume(id) {
      await run('consume', [this.model, id]);
    }

    async destroy(id) {
      await run('destroy', [this.model, id]);
    }

    async revokeByGrantId(grantId) {
      await run('revokeByGrantId', [this.model, grantId]);
    }

    async #first(name, value) {
      const { rows } = await run(name, [this.model, value]);
      if (rows.length === 0) return undefined;
      const [{ payload, consumed }] = rows;
      return consumed === null ? payload : { ...payload, consumed };
    }
  };
}
