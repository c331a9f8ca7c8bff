import type { ErrorTexts } from '../error-texts.js';

/** Texts of class-validator, without the name of the field at their beginning. */
const VALIDATION: ErrorTexts = {
  'each value in {field} {problem}': '每一项{problem}',
  'must be a string': '必须是文本',
  'must be an integer number': '必须是整数',
  'must be a number conforming to the specified constraints': '必须是数字',
  'must be a boolean value': '必须是 true 或 false',
  'must be an array': '必须是列表',
  'must be an object': '必须是对象',
  'must be either object or array': '必须是对象或列表',
  'nested property {field} must be either object or array': '必须是对象或列表',
  'should not be empty': '不能为空',
  'should not be null or undefined': '不能为空',
  'must be longer than or equal to {min} characters': '至少需要 {min} 个字符',
  'must be shorter than or equal to {max} characters': '不能超过 {max} 个字符',
  'must be longer than or equal to {min} and shorter than or equal to {max} characters':
    '长度必须为 {min} 到 {max} 个字符',
  'must not be less than {min}': '不能小于 {min}',
  'must not be greater than {max}': '不能大于 {max}',
  'must be one of the following values: {values}': '必须是以下值之一：{values}',
  'must match {pattern} regular expression': '必须匹配正则表达式 {pattern}',
  'must be a URL address': '必须是网址',
  'must be an email': '必须是电子邮箱地址',
  'must be an ip address': '必须是 IP 地址',
  'must be a valid ISO 8601 date string': '必须是 ISO 8601 格式的时间',
  'must be a valid IANA time-zone': '必须是 IANA 时区',
  'must contain no more than {max} elements': '最多 {max} 项',
  'must contain at least {min} elements': '至少 {min} 项',
  "All {field}'s elements must be unique": '各项不能重复',
};

/** Texts of the libraries that all services share. */
const SHARED: ErrorTexts = {
  'Validation failed (numeric string is expected)': '必须是数字',
  'is not a known field': '是未知字段',
  'Some fields are not acceptable': '部分字段无效',
  'The address is not valid': '地址无效',
  'A text contains characters that are not allowed': '文本包含不允许的字符',
  'This is not an HTTP request': '不是 HTTP 请求',
  '{method} is not allowed here': '此处不支持 {method} 请求',
  'The body may be at most {limit} bytes': '请求体不能超过 {limit} 字节',
  'The body is not valid JSON': '请求体不是有效的 JSON',
  'The charset or content encoding is not accepted': '不支持该字符集或内容编码',
  'The request ended before its body did': '请求体不完整',
  'The body cannot be read': '无法读取请求体',
  'must be a 64-bit integer': '必须是 64 位整数',
  'Nothing has the id {id}': '不存在 ID 为 {id} 的对象',
  'must be 1 to 255 printable characters without spaces': '必须是 1 到 255 个可打印字符，不含空格',
  'The first request with this Idempotency-Key is still running': '使用此 Idempotency-Key 的首个请求仍在执行',
  'The first request with this Idempotency-Key was carried out, at least in part, but its answer is lost: check what exists before you send it again with another key':
    '使用此 Idempotency-Key 的首个请求至少已部分执行，但结果丢失：请先查看现有数据，再换一个键重新发送',
  'Another request with this Idempotency-Key has taken its place': '使用此 Idempotency-Key 的另一个请求已取代它',
  'This Idempotency-Key was used for another request': '此 Idempotency-Key 已用于另一个请求',
  'proxy-gateway cannot be asked who comes through the proxy: until it can, they share one address':
    '无法向 proxy-gateway 查询经过代理的客户端，在此期间它们共用一个地址',
  'This needs a login; API keys are not accepted': '需要登录，不能使用 API 密钥',
  'This needs the login of a user': '需要用户登录',
  'This needs the scope {scope}': '需要权限 {scope}',
  'Send either Authorization or X-API-Key, not two different credentials':
    'Authorization 与 X-API-Key 只能使用其中一个',
  'Too many logins at once': '同时登录的请求过多',
  'Too many streams of changes are open already': '打开的更改事件流过多',
  'Too many login attempts': '登录尝试次数过多',
  'This request came from another site': '请求来自其他网站',
  'There is no API key {id}': '不存在 API 密钥 {id}',
  'must be in the future': '必须晚于当前时间',
  'must be a time with its offset, such as {example}': '必须是带时区偏移的时间，例如 {example}',
  'must look like subscription.create or subscription.*': '格式应如 subscription.create 或 subscription.*',
  'must look like subscription': '格式应如 subscription',
  'must be a next_cursor of this list': '必须是此列表返回的 next_cursor',
  'must not contain control or broken characters': '不能包含控制字符或损坏的字符',
  'must not contain control characters': '不能包含控制字符',
  'The job was removed before it ended.': '任务在结束前已被删除。',
  'must not contain NUL characters': '不能包含 NUL 字符',
};

export const SHARED_ERROR_TEXTS: ErrorTexts = { ...VALIDATION, ...SHARED };
