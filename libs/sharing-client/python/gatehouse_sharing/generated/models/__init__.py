"""Contains all the data models used in inputs/outputs"""

from .check_in_body import CheckInBody
from .check_in_check_in_response_200 import CheckInCheckInResponse200
from .check_in_view import CheckInView
from .check_resource_body import CheckResourceBody
from .checked_resource_view import CheckedResourceView
from .checked_resource_view_pan_type import CheckedResourceViewPanType
from .checked_resource_view_website import CheckedResourceViewWebsite
from .create_share_body import CreateShareBody
from .create_share_body_media_type_type_1 import CreateShareBodyMediaTypeType1
from .create_share_body_media_type_type_2_type_1 import (
    CreateShareBodyMediaTypeType2Type1,
)
from .create_share_body_media_type_type_3_type_1 import (
    CreateShareBodyMediaTypeType3Type1,
)
from .create_share_body_source_type_0_item import CreateShareBodySourceType0Item
from .create_share_body_subtitle_language_type_0_item import (
    CreateShareBodySubtitleLanguageType0Item,
)
from .create_share_body_subtitle_type_type_0_item import (
    CreateShareBodySubtitleTypeType0Item,
)
from .create_share_body_video_resolution_type_0_item import (
    CreateShareBodyVideoResolutionType0Item,
)
from .day_stats_view import DayStatsView
from .endpoint_stats_view import EndpointStatsView
from .entitlements_read_response_200 import EntitlementsReadResponse200
from .entitlements_view import EntitlementsView
from .links_check_response_200 import LinksCheckResponse200
from .media_view import MediaView
from .media_view_type import MediaViewType
from .message_view import MessageView
from .message_view_event_type import MessageViewEventType
from .message_view_type import MessageViewType
from .messages_list_response_200 import MessagesListResponse200
from .messages_list_response_200_meta import MessagesListResponse200Meta
from .messages_list_status import MessagesListStatus
from .messages_list_type import MessagesListType
from .messages_read_all_response_200 import MessagesReadAllResponse200
from .messages_read_response_200 import MessagesReadResponse200
from .messages_unread_response_200 import MessagesUnreadResponse200
from .ping_view import PingView
from .profile_me_response_200 import ProfileMeResponse200
from .profile_view import ProfileView
from .quota_ping_response_200 import QuotaPingResponse200
from .quota_quota_response_200 import QuotaQuotaResponse200
from .quota_view import QuotaView
from .read_messages_body import ReadMessagesBody
from .resource_item_view import ResourceItemView
from .resource_item_view_pan_type import ResourceItemViewPanType
from .resources_of_title_response_200 import ResourcesOfTitleResponse200
from .resources_of_title_response_200_meta import ResourcesOfTitleResponse200Meta
from .resources_of_title_type import ResourcesOfTitleType
from .share_detail_view import ShareDetailView
from .share_detail_view_pan_type import ShareDetailViewPanType
from .share_item_view import ShareItemView
from .share_item_view_pan_type import ShareItemViewPanType
from .sharer_view import SharerView
from .shares_create_response_200 import SharesCreateResponse200
from .shares_delete_response_200 import SharesDeleteResponse200
from .shares_detail_response_200 import SharesDetailResponse200
from .shares_list_include import SharesListInclude
from .shares_list_response_200 import SharesListResponse200
from .shares_list_response_200_meta import SharesListResponse200Meta
from .shares_update_response_200 import SharesUpdateResponse200
from .subscription_body import SubscriptionBody
from .subscription_body_target_type import SubscriptionBodyTargetType
from .subscription_view import SubscriptionView
from .subscription_view_status import SubscriptionViewStatus
from .subscription_view_target_type import SubscriptionViewTargetType
from .subscriptions_list_response_200 import SubscriptionsListResponse200
from .subscriptions_list_response_200_meta import SubscriptionsListResponse200Meta
from .subscriptions_list_status import SubscriptionsListStatus
from .subscriptions_list_target_type import SubscriptionsListTargetType
from .subscriptions_subscribe_response_200 import SubscriptionsSubscribeResponse200
from .subscriptions_unsubscribe_response_200 import SubscriptionsUnsubscribeResponse200
from .unlock_body import UnlockBody
from .unlock_item_view import UnlockItemView
from .unlock_view import UnlockView
from .unlocks_unlock_response_200 import UnlocksUnlockResponse200
from .unread_messages_view import UnreadMessagesView
from .update_share_body import UpdateShareBody
from .update_share_body_source_type_0_item import UpdateShareBodySourceType0Item
from .update_share_body_subtitle_language_type_0_item import (
    UpdateShareBodySubtitleLanguageType0Item,
)
from .update_share_body_subtitle_type_type_0_item import (
    UpdateShareBodySubtitleTypeType0Item,
)
from .update_share_body_video_resolution_type_0_item import (
    UpdateShareBodyVideoResolutionType0Item,
)
from .usage_summary_view import UsageSummaryView
from .usage_today_response_200 import UsageTodayResponse200
from .usage_usage_response_200 import UsageUsageResponse200
from .usage_view import UsageView
from .user_meta_view import UserMetaView
from .user_meta_view_notification_method import UserMetaViewNotificationMethod
from .weekly_free_quota_response_200 import WeeklyFreeQuotaResponse200
from .weekly_free_view import WeeklyFreeView

__all__ = (
    "CheckInBody",
    "CheckInCheckInResponse200",
    "CheckInView",
    "CheckResourceBody",
    "CheckedResourceView",
    "CheckedResourceViewPanType",
    "CheckedResourceViewWebsite",
    "CreateShareBody",
    "CreateShareBodyMediaTypeType1",
    "CreateShareBodyMediaTypeType2Type1",
    "CreateShareBodyMediaTypeType3Type1",
    "CreateShareBodySourceType0Item",
    "CreateShareBodySubtitleLanguageType0Item",
    "CreateShareBodySubtitleTypeType0Item",
    "CreateShareBodyVideoResolutionType0Item",
    "DayStatsView",
    "EndpointStatsView",
    "EntitlementsReadResponse200",
    "EntitlementsView",
    "LinksCheckResponse200",
    "MediaView",
    "MediaViewType",
    "MessageView",
    "MessageViewEventType",
    "MessageViewType",
    "MessagesListResponse200",
    "MessagesListResponse200Meta",
    "MessagesListStatus",
    "MessagesListType",
    "MessagesReadAllResponse200",
    "MessagesReadResponse200",
    "MessagesUnreadResponse200",
    "PingView",
    "ProfileMeResponse200",
    "ProfileView",
    "QuotaPingResponse200",
    "QuotaQuotaResponse200",
    "QuotaView",
    "ReadMessagesBody",
    "ResourceItemView",
    "ResourceItemViewPanType",
    "ResourcesOfTitleResponse200",
    "ResourcesOfTitleResponse200Meta",
    "ResourcesOfTitleType",
    "ShareDetailView",
    "ShareDetailViewPanType",
    "ShareItemView",
    "ShareItemViewPanType",
    "SharerView",
    "SharesCreateResponse200",
    "SharesDeleteResponse200",
    "SharesDetailResponse200",
    "SharesListInclude",
    "SharesListResponse200",
    "SharesListResponse200Meta",
    "SharesUpdateResponse200",
    "SubscriptionBody",
    "SubscriptionBodyTargetType",
    "SubscriptionView",
    "SubscriptionViewStatus",
    "SubscriptionViewTargetType",
    "SubscriptionsListResponse200",
    "SubscriptionsListResponse200Meta",
    "SubscriptionsListStatus",
    "SubscriptionsListTargetType",
    "SubscriptionsSubscribeResponse200",
    "SubscriptionsUnsubscribeResponse200",
    "UnlockBody",
    "UnlockItemView",
    "UnlockView",
    "UnlocksUnlockResponse200",
    "UnreadMessagesView",
    "UpdateShareBody",
    "UpdateShareBodySourceType0Item",
    "UpdateShareBodySubtitleLanguageType0Item",
    "UpdateShareBodySubtitleTypeType0Item",
    "UpdateShareBodyVideoResolutionType0Item",
    "UsageSummaryView",
    "UsageTodayResponse200",
    "UsageUsageResponse200",
    "UsageView",
    "UserMetaView",
    "UserMetaViewNotificationMethod",
    "WeeklyFreeQuotaResponse200",
    "WeeklyFreeView",
)
