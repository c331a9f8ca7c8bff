const given = (field: string, type: string): object => ({ required: [field], properties: { [field]: { type } } });
const PAIR = {
  required: ['tmdb_id', 'media_type'],
  properties: { tmdb_id: { type: 'string' }, media_type: { type: 'string' } },
};
const NO_PAIR = { properties: { tmdb_id: { type: 'null' }, media_type: { type: 'null' } } };

/** At least one title; tmdb_id and media_type together or not at all. `ShareRelations` checks it. */
export const RELATION_RULE = {
  anyOf: [PAIR, { ...NO_PAIR, anyOf: ['movie_id', 'tv_id', 'collection_id'].map((field) => given(field, 'integer')) }],
};
