/** Words that a share is described with; the site and every client know them. */
export const VIDEO_RESOLUTIONS = ['480P', '720P', '1080P', '2K', '4K', '8K'] as const;

export const SOURCES = [
  '蓝光原盘/ISO',
  '蓝光原盘/REMUX',
  'BDRip/BluRayEncode',
  'WEB-DL/WEBRip',
  'HDTV/HDTVRip',
] as const;

export const SUBTITLE_LANGUAGES = [
  '生肉',
  '简中',
  '繁中',
  '简日',
  '繁日',
  '简英',
  '繁英',
  '简韩',
  '繁韩',
  '简日双语',
  '繁日双语',
  '简英双语',
  '繁英双语',
] as const;

export const SUBTITLE_TYPES = ['外挂', '内封', '内嵌'] as const;
