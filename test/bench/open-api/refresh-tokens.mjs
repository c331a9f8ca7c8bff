/** An application named `bench` with a secret, and refresh tokens of grants of one user. */
export async function prepareRefreshTokens(service, count) {
  const { rows } = await service.query(
    `WITH account AS (
       INSERT INTO site_accounts (username, nickname, password_hash) VALUES ('bench', 'bench', 'none') RETURNING id
     )
     INSERT INTO applications (client_id, name, owner_id, kind, auth_level, status, allowed_scopes)
     SELECT 'bench', 'bench', id, 'confidential', 'verified', 'approved', '{meta,query,unlock,write,vip}' FROM account
     RETURNING id, owner_id`,
  );
  const [{ id, owner_id: owner }] = rows;
  const [secret] = service.secrets('hk_', 1);
  await service.query(
    `INSERT INTO credentials (kind, application_id, name, secret_hash, prefix, last_four)
     VALUES ('application', $1, 'bench', $2, 'hk_', 'last')`,
    [id, secret.hash],
  );
  const tokens = service.secrets('hrt_', count);
  await service.query(
    `WITH made AS (
       INSERT INTO grants (user_id, application_id, scopes, exchanged_at)
       SELECT $1, $2, '{meta,query}', now() FROM generate_series(1, $3) RETURNING id
     ), numbered AS (SELECT id, row_number() OVER () AS n FROM made)
     INSERT INTO refresh_tokens (hash, grant_id, generation, idle_expires_at, absolute_expires_at)
     SELECT t.hash, numbered.id, 0, now() + interval '30 days', now() + interval '365 days'
     FROM unnest($4::bytea[]) WITH ORDINALITY AS t (hash, n) JOIN numbered USING (n)`,
    [owner, id, count, tokens.map(({ hash }) => hash)],
  );
  await service.query('VACUUM ANALYZE applications, credentials, grants, refresh_tokens');
  return { secret: secret.text, tokens: tokens.map(({ text }) => text) };
}
