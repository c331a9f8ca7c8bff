// Made by generate.mjs from the interface description; changes here are lost.
/* eslint-disable max-lines */

export interface paths {
  '/api/open/ping': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Check that a key is valid, and get its id and name
     * @description Use it to test a key or a token. Returns the id and name of the key that was sent; a token alone has no id. Scope: `meta`.
     */
    get: operations['quota_ping'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/quota': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * When quotas reset, and what is left of the quota of this operation
     * @description Returns when the daily quota resets (Unix seconds) and how much of it is left. A field is null if no quota applies. Scope: `meta`.
     */
    get: operations['quota_quota'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Calls by day and by operation; the last 30 days by default, at most 366
     * @description Returns calls, failures and response times for the period from `start_date` to `end_date` (`YYYY-MM-DD`, both included). With a user token, only calls for that user count. Scope: `meta`.
     */
    get: operations['usage_usage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/usage/today': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Calls of the current day
     * @description Returns the totals of the current day in the time zone of the service. Scope: `meta`.
     */
    get: operations['usage_today'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/check/resource': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Recognize the link in a text, and its access code
     * @description Recognizes links of the supported drives, finds the access code in the text, and says whether the link is already shared. Nothing is stored. Scope: `query`.
     */
    post: operations['links_check'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/resources/{type}/{tmdb_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Shares of a film or series, newest first; empty for an unknown title. The newest 500 without page and page_size
     * @description Lists the shares of a title by its TMDB id, without links and access codes. The list is empty if the title has no shares. Scope: `query`.
     */
    get: operations['resources_ofTitle'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/shares': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The caller's own shares, newest first
     * @description Lists what the user shares. With `include=link` the answer includes links and access codes. Scope: `write`.
     */
    get: operations['shares_list'];
    put?: never;
    /**
     * Share a link
     * @description Shares a link under a title. Name the title by `tmdb_id` and `media_type`, or by one of its ids here. A link can be shared once. Send an `Idempotency-Key` to repeat the request safely. Scope: `write`.
     */
    post: operations['shares_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/shares/{slug}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A share, without its link and access code
     * @description Returns what a person sees before unlocking: title, size, quality and price. Scope: `query`.
     */
    get: operations['shares_detail'];
    put?: never;
    post?: never;
    /**
     * Withdraw a share; users who unlocked it keep access
     * @description Removes the share from all lists. Users who have unlocked it keep their access. Scope: `write`.
     */
    delete: operations['shares_delete'];
    options?: never;
    head?: never;
    /**
     * Change a share; null clears a field
     * @description Changes the fields in the body and keeps the others. Only the owner can do this. Scope: `write`.
     */
    patch: operations['shares_update'];
    trace?: never;
  };
  '/api/open/resources/unlock': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Unlock a share, or several: get link and access code. A price is paid once
     * @description Returns the link and the access code. A price is paid only once: unlocking the share again is free. The points move from the user to the owner in one transaction. With `slugs` in the place of `slug`, up to 20 shares are unlocked in one transaction, in their order, and each has its own outcome in `items`; the answer is the refusal of a limit only if nothing was unlocked. Scope: `unlock`.
     */
    post: operations['unlocks_unlock'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/subscriptions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Titles that the user subscribed to, newest first
     * @description Lists the subscriptions of the user. `q` finds one by its `target_key`, by TMDB id or by a part of the name. Scope: `write`.
     */
    get: operations['subscriptions_list'];
    put?: never;
    /**
     * Subscribe to a title: its new shares become messages
     * @description Subscribes to a title: when somebody else shares something of it, or asks followers to look again, the user gets a message. Subscribing again returns the subscription that is there. `target_key` is the type of the title and `media.id` of any of its shares. A user can have 500. Scope: `write`.
     */
    post: operations['subscriptions_subscribe'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/subscriptions/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * End a subscription; its messages stay
     * @description Ends a subscription. Messages that it brought stay. Scope: `write`.
     */
    delete: operations['subscriptions_unsubscribe'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/messages': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Messages about shares of subscribed titles, newest first
     * @description Lists the messages of the user. Those about withdrawn shares are left out, and all are removed after 90 days. Scope: `write`.
     */
    get: operations['messages_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/messages/unread-count': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * How many messages are unread
     * @description Returns how many messages are unread. Scope: `write`.
     */
    get: operations['messages_unread'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/messages/read': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Mark messages as read
     * @description Marks messages as read, up to 200. Ids that are not those of the user change nothing. Scope: `write`.
     */
    post: operations['messages_read'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/messages/read-all': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Mark all messages as read
     * @description Marks all messages as read. Scope: `write`.
     */
    post: operations['messages_readAll'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/checkin': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Check in for today
     * @description Grants the daily points, once a day. With `is_gambler` the amount is random instead of fixed. Scope: `vip`.
     */
    post: operations['checkIn_checkIn'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/vip/weekly-free-quota': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Weekly free unlocks of a user with lifetime Premium; 0 for other users
     * @description Users with lifetime Premium unlock some shares for free each week. Returns the limit, the number used and the number left. Scope: `vip`.
     */
    get: operations['weeklyFree_quota'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/vip/entitlements': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What Premium gives the user
     * @description Returns what Premium gives the user: today the free unlocks of the week, as `GET /api/open/vip/weekly-free-quota` does under other names. 403 `VIP_REQUIRED` without Premium. Scope: `vip`.
     */
    get: operations['entitlements_read'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/open/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The user for whom the caller acts
     * @description Returns the name, points, Premium state and permissions of the user. Scope: `vip`.
     */
    get: operations['profile_me'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    PingView: {
      message: string;
      /** @description Id of the application secret or personal key; null if a public application sent its token alone */
      api_key_id: number | null;
      name: string;
    };
    QuotaView: {
      /** @description Next midnight in the service’s time zone, in Unix seconds */
      daily_reset: number;
      /** @description Calls of this operation per day; null: no limit */
      endpoint_limit: number | null;
      endpoint_remaining: number | null;
    };
    DayStatsView: {
      total_calls: number;
      /** @description Calls answered with a status below 400 */
      success_calls: number;
      failed_calls: number;
      /** @description Milliseconds */
      avg_latency: number;
      /** @description Milliseconds that 95 of 100 calls did not exceed */
      p95_latency: number;
      /** Format: date */
      date: string;
    };
    EndpointStatsView: {
      /** @description Route template */
      endpoint: string;
      method: string;
      total_calls: number;
      success_calls: number;
      failed_calls: number;
      /** @description Milliseconds */
      avg_latency: number;
    };
    UsageSummaryView: {
      total_calls: number;
      /** @description Calls answered with a status below 400 */
      success_calls: number;
      failed_calls: number;
      /** @description Milliseconds */
      avg_latency: number;
      /** @description Milliseconds that 95 of 100 calls did not exceed */
      p95_latency: number;
    };
    UsageView: {
      /** @description Days with calls, oldest first */
      daily_stats: components['schemas']['DayStatsView'][];
      /** @description Most called first */
      endpoint_stats: components['schemas']['EndpointStatsView'][];
      summary: components['schemas']['UsageSummaryView'];
    };
    CheckedResourceView: {
      /** @enum {string} */
      website:
        | '115'
        | '123'
        | 'quark'
        | 'baidu'
        | 'aliyun'
        | 'tianyi'
        | 'xunlei'
        | 'uc'
        | 'mobile'
        | 'guangya'
        | 'pikpak'
        | 'magnet'
        | 'ed2k'
        | 'others';
      /** @enum {string} */
      pan_type:
        | '115'
        | '123'
        | 'quark'
        | 'baidu'
        | 'aliyun'
        | 'tianyi'
        | 'xunlei'
        | 'uc'
        | 'mobile'
        | 'guangya'
        | 'pikpak'
        | 'magnet'
        | 'ed2k'
        | 'others';
      /** @description False if the site is not known */
      supported: boolean;
      /** @description The link, without its access code */
      url: string;
      base_link: string;
      /** @description Empty if there is none */
      access_code: string;
      /** @description Two different access codes were found */
      access_code_conflict: boolean;
      /** @description Title of the share on its site */
      share_id: string | null;
      /** @description The link with its access code */
      full_url: string;
      /** @description Suggested price of a share of this link, in points */
      default_unlock_points: number;
    };
    CheckResourceBody: {
      url: string;
      access_code?: string | null;
    };
    SharerView: {
      id: number;
      nickname: string;
      avatar_url: string | null;
    };
    ResourceItemView: {
      /** @description 32 hex digits */
      slug: string;
      title: string | null;
      /** @enum {string} */
      pan_type:
        | '115'
        | '123'
        | 'quark'
        | 'baidu'
        | 'aliyun'
        | 'tianyi'
        | 'xunlei'
        | 'uc'
        | 'mobile'
        | 'guangya'
        | 'pikpak'
        | 'magnet'
        | 'ed2k'
        | 'others';
      share_size: string | null;
      video_resolution: string[];
      source: string[];
      subtitle_language: string[];
      subtitle_type: string[];
      remark: string | null;
      /** @description Null: free */
      unlock_points: number | null;
      /** @description True if the caller has unlocked the share or owns it */
      is_unlocked: boolean;
      unlocked_users_count: number;
      validate_status: string | null;
      validate_message: string | null;
      /** @description YYYY-MM-DD HH:mm:ss */
      last_validated_at: string | null;
      is_official: boolean;
      /** @description Null if the sharer is anonymous */
      user: components['schemas']['SharerView'] | null;
      /** @description YYYY-MM-DD HH:mm:ss */
      created_at: string;
    };
    MediaView: {
      /** @description Id of the title here: `movie_id`, `tv_id` or `collection_id` */
      id: number;
      /** @enum {string} */
      type: 'movie' | 'tv' | 'collection';
      tmdb_id: string;
      title: string | null;
    };
    ShareItemView: {
      /** @description 32 hex digits */
      slug: string;
      title: string | null;
      /** @enum {string} */
      pan_type:
        | '115'
        | '123'
        | 'quark'
        | 'baidu'
        | 'aliyun'
        | 'tianyi'
        | 'xunlei'
        | 'uc'
        | 'mobile'
        | 'guangya'
        | 'pikpak'
        | 'magnet'
        | 'ed2k'
        | 'others';
      share_size: string | null;
      video_resolution: string[];
      source: string[];
      subtitle_language: string[];
      subtitle_type: string[];
      remark: string | null;
      /** @description Null: free */
      unlock_points: number | null;
      /** @description True if the caller has unlocked the share or owns it */
      is_unlocked: boolean;
      unlocked_users_count: number;
      validate_status: string | null;
      validate_message: string | null;
      /** @description YYYY-MM-DD HH:mm:ss */
      last_validated_at: string | null;
      is_official: boolean;
      /** @description Null if the sharer is anonymous */
      user: components['schemas']['SharerView'] | null;
      /** @description YYYY-MM-DD HH:mm:ss */
      created_at: string;
      media: components['schemas']['MediaView'];
      /** @description Only with `include=link` */
      url?: string;
      /** @description Only with `include=link` */
      access_code?: string;
    };
    ShareDetailView: {
      /** @description 32 hex digits */
      slug: string;
      title: string | null;
      /** @enum {string} */
      pan_type:
        | '115'
        | '123'
        | 'quark'
        | 'baidu'
        | 'aliyun'
        | 'tianyi'
        | 'xunlei'
        | 'uc'
        | 'mobile'
        | 'guangya'
        | 'pikpak'
        | 'magnet'
        | 'ed2k'
        | 'others';
      share_size: string | null;
      video_resolution: string[];
      source: string[];
      subtitle_language: string[];
      subtitle_type: string[];
      remark: string | null;
      /** @description Null: free */
      unlock_points: number | null;
      /** @description True if the caller has unlocked the share or owns it */
      is_unlocked: boolean;
      unlocked_users_count: number;
      validate_status: string | null;
      validate_message: string | null;
      /** @description YYYY-MM-DD HH:mm:ss */
      last_validated_at: string | null;
      is_official: boolean;
      /** @description Null if the sharer is anonymous */
      user: components['schemas']['SharerView'] | null;
      /** @description YYYY-MM-DD HH:mm:ss */
      created_at: string;
      /** @description Points that the caller would pay to unlock it */
      actual_unlock_points: number;
      is_free_for_user: boolean;
      unlock_message: string;
      click_count: number;
      media: components['schemas']['MediaView'];
    };
    CreateShareBody:
      | {
          title?: string | null;
          share_size?: string | null;
          video_resolution?: ('480P' | '720P' | '1080P' | '2K' | '4K' | '8K')[] | null;
          source?:
            ('蓝光原盘/ISO' | '蓝光原盘/REMUX' | 'BDRip/BluRayEncode' | 'WEB-DL/WEBRip' | 'HDTV/HDTVRip')[] | null;
          subtitle_language?:
            | (
                | '生肉'
                | '简中'
                | '繁中'
                | '简日'
                | '繁日'
                | '简英'
                | '繁英'
                | '简韩'
                | '繁韩'
                | '简日双语'
                | '繁日双语'
                | '简英双语'
                | '繁英双语'
              )[]
            | null;
          subtitle_type?: ('外挂' | '内封' | '内嵌')[] | null;
          remark?: string | null;
          access_code?: string | null;
          unlock_points?: number | null;
          url: string;
          tmdb_id?: string | null;
          /** @enum {string|null} */
          media_type?: 'movie' | 'tv' | null;
          movie_id?: number | null;
          tv_id?: number | null;
          collection_id?: number | null;
          is_anonymous?: boolean | null;
          hide_link?: boolean | null;
        }
      | {
          tmdb_id: string;
          media_type: string;
        }
      | (
          | {
              tmdb_id?: null;
              media_type?: null;
            }
          | {
              movie_id: number;
            }
          | {
              tv_id: number;
            }
          | {
              collection_id: number;
            }
        );
    UpdateShareBody: {
      title?: string | null;
      share_size?: string | null;
      video_resolution?: ('480P' | '720P' | '1080P' | '2K' | '4K' | '8K')[] | null;
      source?: ('蓝光原盘/ISO' | '蓝光原盘/REMUX' | 'BDRip/BluRayEncode' | 'WEB-DL/WEBRip' | 'HDTV/HDTVRip')[] | null;
      subtitle_language?:
        | (
            | '生肉'
            | '简中'
            | '繁中'
            | '简日'
            | '繁日'
            | '简英'
            | '繁英'
            | '简韩'
            | '繁韩'
            | '简日双语'
            | '繁日双语'
            | '简英双语'
            | '繁英双语'
          )[]
        | null;
      subtitle_type?: ('外挂' | '内封' | '内嵌')[] | null;
      remark?: string | null;
      access_code?: string | null;
      unlock_points?: number | null;
      url?: string;
      is_anonymous?: boolean;
      hide_link?: boolean;
      notify?: boolean;
    };
    UnlockItemView: {
      /** @description 32 hex digits */
      slug: string;
      success: boolean;
      /** @description 200, or the error code that the share alone would be answered with */
      code: string;
      message: string;
      /** @description Empty without success, like the next two */
      url: string;
      access_code: string;
      full_url: string;
      /** @description The caller already had access; nothing was paid */
      already_owned: boolean;
      /** @description When a repeat makes sense; null without a limit */
      retry_after_seconds: number | null;
    };
    UnlockView: {
      /** @description Empty for `slugs`, like the next two */
      url: string;
      /** @description Empty if there is none */
      access_code: string;
      /** @description The link with its access code */
      full_url: string;
      /** @description The caller already had access; nothing was paid */
      already_owned: boolean;
      /** @description Only for `slugs`: each share once, in their order */
      items?: components['schemas']['UnlockItemView'][];
    };
    UnlockBody:
      | {
          slug?: string;
          slugs?: string[];
        }
      | {
          slug: string;
        }
      | {
          slugs: string[];
        };
    SubscriptionView: {
      id: number;
      /** @enum {string} */
      target_type: 'media_resource';
      /** @description `media.id` */
      target_id: number;
      /** @description Type and id of the title, such as `tv:7` */
      target_key: string;
      /** @enum {string} */
      status: 'active';
      media: components['schemas']['MediaView'];
      /** @description YYYY-MM-DD HH:mm:ss */
      created_at: string;
    };
    SubscriptionBody: {
      /** @enum {string} */
      target_type: 'media_resource';
      target_key: string;
      target_id?: number;
    };
    MessageView: {
      id: number;
      /** @enum {string} */
      type: 'subscription';
      /**
       * @description Updated: its sharer asks to look again
       * @enum {string}
       */
      event_type: 'share.created' | 'share.updated';
      title: string;
      /** @description The share; 32 hex digits */
      slug: string;
      media: components['schemas']['MediaView'];
      is_read: boolean;
      /** @description YYYY-MM-DD HH:mm:ss */
      created_at: string;
    };
    UnreadMessagesView: {
      unread_count: number;
    };
    ReadMessagesBody: {
      ids: number[];
    };
    CheckInView: {
      /** @description False if the user has already checked in today */
      checked_in: boolean;
      message: string;
      /** @description Points won or, below 0, lost; 0 if the user has already checked in today */
      points: number;
      balance: number;
      /** @description Consecutive days with a check-in */
      streak: number;
    };
    CheckInBody: {
      is_gambler?: boolean | null;
    };
    WeeklyFreeView: {
      is_forever_vip: boolean;
      /** @description Free unlocks per week; 0 if there is no limit */
      limit: number;
      /** @description Used this week; official shares do not count */
      used: number;
      /** @description Free unlocks left this week, bonus included; -1 if there is no limit */
      remaining: number;
      unlimited: boolean;
      /** @description Unused free unlocks of earlier weeks; updated on Mondays */
      bonus_quota: number;
      bonus_quota_max: number;
    };
    EntitlementsView: {
      /** @description Premium for more than 20 years; only such users have free unlocks */
      is_forever_vip: boolean;
      /** @description Free unlocks per week; 0 if there is no limit or none */
      weekly_free_quota: number;
      /** @description Free unlocks left this week, bonus included; -1 if there is no limit */
      weekly_free_quota_remaining: number;
      weekly_free_quota_unlimited: boolean;
      /** @description Unused free unlocks of earlier weeks */
      bonus_quota: number;
    };
    UserMetaView: {
      points: number;
      signin_days_total: number;
      share_num: number;
      is_activate: boolean;
      /**
       * @description The service sends no notifications
       * @enum {string}
       */
      notification_method: 'none';
    };
    ProfileView: {
      id: number;
      nickname: string;
      username: string;
      /** @description Empty if there is none */
      email: string;
      /** @description Empty if there is none */
      avatar_url: string;
      is_vip: boolean;
      /** Format: date-time */
      vip_expiration_date: string | null;
      /** Format: date-time */
      last_active_at: string | null;
      points: number;
      /** @description 0: member, 1: Premium, 2: lifetime Premium */
      level: number;
      user_meta: components['schemas']['UserMetaView'];
      /** @description Always null; Telegram accounts are not supported */
      telegram_user: null;
      /** Format: date-time */
      created_at: string;
    };
    Error: {
      /** @constant */
      success: false;
      code: string;
      message: string;
      description: string;
      data: null;
      details?: {
        field: string;
        message: string;
      }[];
      retry_after_seconds?: number;
      request_id?: string | null;
    };
  };
  responses: {
    /** @description Any failure; docs/errors.md lists the codes */
    Error: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  quota_ping: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['PingView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  quota_quota: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['QuotaView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  usage_usage: {
    parameters: {
      query?: {
        start_date?: string;
        end_date?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['UsageView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  usage_today: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['UsageSummaryView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  links_check: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CheckResourceBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['CheckedResourceView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  resources_ofTitle: {
    parameters: {
      query?: {
        page?: number;
        page_size?: number;
      };
      header?: never;
      path: {
        type: 'movie' | 'tv';
        tmdb_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['ResourceItemView'][];
            meta: {
              total: number;
              page?: number;
              page_size?: number;
            };
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  shares_list: {
    parameters: {
      query?: {
        page?: number;
        page_size?: number;
        include?: 'link';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['ShareItemView'][];
            meta: {
              total: number;
              page: number;
              page_size: number;
            };
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  shares_create: {
    parameters: {
      query?: never;
      header?: {
        /** @description A repeat with the same key within 24 hours gets the first answer, with Idempotency-Replayed: true; 409 while the first is running, 422 when it was another request */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateShareBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['ShareItemView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  shares_detail: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['ShareDetailView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  shares_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: null;
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  shares_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UpdateShareBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['ShareItemView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  unlocks_unlock: {
    parameters: {
      query?: never;
      header?: {
        /** @description A repeat with the same key within 24 hours gets the first answer, with Idempotency-Replayed: true; 409 while the first is running, 422 when it was another request */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UnlockBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['UnlockView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  subscriptions_list: {
    parameters: {
      query?: {
        page?: number;
        page_size?: number;
        target_type?: 'media_resource';
        status?: 'active';
        q?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['SubscriptionView'][];
            meta: {
              total: number;
              page: number;
              page_size: number;
            };
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  subscriptions_subscribe: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SubscriptionBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['SubscriptionView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  subscriptions_unsubscribe: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: null;
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  messages_list: {
    parameters: {
      query?: {
        page?: number;
        page_size?: number;
        type?: 'subscription';
        status?: 'unread' | 'read';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['MessageView'][];
            meta: {
              total: number;
              page: number;
              page_size: number;
            };
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  messages_unread: {
    parameters: {
      query?: {
        subscription_only?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['UnreadMessagesView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  messages_read: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ReadMessagesBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: null;
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  messages_readAll: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: null;
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  checkIn_checkIn: {
    parameters: {
      query?: never;
      header?: {
        /** @description A repeat with the same key within 24 hours gets the first answer, with Idempotency-Replayed: true; 409 while the first is running, 422 when it was another request */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['CheckInBody'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['CheckInView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  weeklyFree_quota: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['WeeklyFreeView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  entitlements_read: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['EntitlementsView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
  profile_me: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            success: boolean;
            code: string;
            message: string;
            data: components['schemas']['ProfileView'];
          };
        };
      };
      default: components['responses']['Error'];
    };
  };
}
