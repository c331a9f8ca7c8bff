-- Messages to those who subscribed to a title. Of Subscriptions and Inbox (src/subscriptions).
--
-- Promises: a message is written in the transaction of its share, or not at all; nobody gets one about an own share.

CREATE OR REPLACE FUNCTION is_subscriber(p_subscriber bigint, p_sharer bigint) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT p_subscriber <> p_sharer $$;

CREATE OR REPLACE FUNCTION write_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messages (user_id, share_id, event_type)
    SELECT DISTINCT s.user_id, NEW.id, CASE TG_OP WHEN 'INSERT' THEN 'share.created' ELSE 'share.updated' END
    FROM title_subscriptions s
    WHERE s.title_id IN (NEW.movie_id, NEW.tv_id, NEW.collection_id) AND is_subscriber(s.user_id, NEW.owner_id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER shares_write_messages AFTER INSERT ON shares FOR EACH ROW
  WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION write_messages();
CREATE OR REPLACE TRIGGER shares_write_messages_again AFTER UPDATE OF notified_at ON shares FOR EACH ROW
  WHEN (NEW.deleted_at IS NULL AND NEW.notified_at IS DISTINCT FROM OLD.notified_at) EXECUTE FUNCTION write_messages();
