import { PROFILE_REASONS } from '@gatehouse/contracts';
import type { ErrorTexts } from '@gatehouse/platform';
import { FORMAT_TEXTS } from './format-texts.zh-CN.js';
import { PROFILE_TEXTS } from './profile-texts.js';
import { PROFILE_TEXTS_ZH_CN } from './profile-texts.zh-CN.js';
import { KERNEL_TEXTS } from './kernel-texts.zh-CN.js';

const ACCESS: ErrorTexts = {
  'A key cannot have scopes that its creator does not have': '密钥的权限不能超出其创建者的权限',
  'The current password is wrong': '当前密码错误',
  'The password is wrong': '密码错误',
  'While login is off, this name is not served; PROXY_GATEWAY_HOSTS can allow it':
    '关闭登录时不能通过此域名访问；可用 PROXY_GATEWAY_HOSTS 允许',
  'needs the scope admin, as does another url while it is set': '需要 admin 权限；启用后更改网址也需要该权限',
  'The body must be an object of settings, each a string': '请求体必须是由设置项组成的对象，值为文本',
  'Some settings are not acceptable': '部分设置无效',
  'is not a setting': '不是设置项',
  'cannot be "false" while others reach the service or its proxy ({name} is {value}): use 127.0.0.1 there, {rest}':
    '服务或代理可被其他设备访问时不能为“false”（{name} 为 {value}）：请将其改为 127.0.0.1，{rest}',
  'cannot let others in while auth.enabled is "false": switch login on first, {rest}':
    'auth.enabled 为“false”时不能允许其他设备访问：请先启用登录，{rest}',
  'mihomo cannot refuse private targets unless a rule names them: use kernel.mode embedded for that':
    'mihomo 只能通过规则拒绝内网目标，请将 kernel.mode 设为 embedded',
  'needs the mihomo program: in PATH, or its path as PROXY_GATEWAY_MIHOMO in the environment':
    '需要 mihomo 程序：放在 PATH 中，或由环境变量 PROXY_GATEWAY_MIHOMO 给出其路径',
  'is a very common password': '是过于常见的密码',
  'must be "true" or "false"': '必须是“true”或“false”',
  'must be a number from 0 to 1': '必须是 0 到 1 之间的数',
  'must be a whole number from {min} to {max}': '必须是 {min} 到 {max} 之间的整数',
  'must be one of {values}': '必须是以下值之一：{values}',
  'must be at most {max} printable characters': '最多 {max} 个可打印字符',
  'must be at most {max} http or https URLs': '最多 {max} 个 http 或 https 网址',
  'must be an http or https URL': '必须是 http 或 https 网址',
  'must be at most 100 pairs host:port=group or :port=group with different groups':
    '最多 100 项，格式为 主机:端口=代理组 或 :端口=代理组，且代理组各不相同',
  'mihomo has no listeners of groups that rules could still reject: use kernel.mode embedded for that':
    'mihomo 的代理组端口会绕过拒绝规则，请将 kernel.mode 设为 embedded',
  'needs Linux to be more than 1: other systems do not divide connections': '大于 1 需要 Linux：其他系统不会分配连接',
  'cannot be more than 1 with mihomo, which uses all cores itself': '使用 mihomo 时不能大于 1：它本身会使用所有核心',
  'cannot be more than 1 with dns.fake_ip: only the kernel that answered knows the name behind an address':
    '启用 dns.fake_ip 时不能大于 1：只有作出应答的内核知道地址对应的域名',
  'must be host:port, [ipv6]:port or :port': '格式必须为 主机:端口、[IPv6]:端口 或 :端口',
  'must be entries such as +.example.com=192.0.2.1': '格式应如 +.example.com=192.0.2.1',
  'must be at most 100 pairs user:password with different users, separated by spaces':
    '最多 100 组“用户名:密码”，用户名不能重复，以空格分隔',
  'cannot be bound ({reason})': '无法监听（{reason}）',
  'No such connection is open': '该连接不存在或已关闭',
  'The proxy kernel is not running; it is being restarted.': '代理内核未运行，正在重启。',
  'The configuration cannot run: {reason}': '配置无法运行：{reason}',
  'The configuration cannot run in kernel {kernel}: {reason}': '配置无法在内核 {kernel} 中运行：{reason}',
  'cannot be {address} in kernel {kernel}, where that {reason}: choose another port':
    '不能为 {address}：内核 {kernel} 无法监听（{reason}），请换一个端口',
  'cannot be {address}, which {reason}: choose another port': '不能为 {address}（{reason}），请换一个端口',
  '{rule} is not taken by the running kernel, {kernel}': '正在运行的内核不接受 {rule}，{kernel}',
  'This kernel belongs to the service and ends with it: it cannot be drained alone.':
    '此内核由服务启动并随服务停止，不能单独排空。',
  '{kernel} is of a version that cannot be drained.': '{kernel} 的版本不支持排空。',
  'There is no such kernel.': '没有这个内核。',
  'This service does not reach the kernel at the moment.': '此服务目前无法连接该内核。',
};

const NODES: ErrorTexts = {
  'There is no node {id}.': '节点 {id} 不存在。',
  'Node {id} would have more than {max} tags.': '节点 {id} 的标签将超过 {max} 个。',
  'Node {id} cannot be tested here: {reason}.': '无法在此测试节点 {id}：{reason}。',
  '{country} is not a country code': '{country} 不是国家或地区代码',
  'is not a country code': '不是国家或地区代码',
  'must be two letters (ISO 3166-1 alpha-2)': '必须是两位国家或地区代码（ISO 3166-1 alpha-2）',
  'must be two letters (ISO 3166-1 alpha-2) or null': '必须是两位国家或地区代码（ISO 3166-1 alpha-2）或 null',
  'must be ISO 3166-1 alpha-2 codes in upper case': '必须是大写的两位国家或地区代码（ISO 3166-1 alpha-2）',
  'The definition of this node comes from a subscription; only name, enabled, country and tags can be changed.':
    '此节点来自订阅，只能更改名称、启用状态、国家或地区和标签。',
  'type changes only together with raw_config': '更改类型时必须同时提供 raw_config',
  'is needed to change the type': '更改类型时必填',
  'Node {id} belongs to a subscription; disable it, or delete the subscription.':
    '节点 {id} 属于订阅，请停用该节点或删除订阅。',
  'Node {id} connects to the same server in the same way.': '节点 {id} 与此节点的服务器和连接方式相同。',
  'is the same node as {id}': '与节点 {id} 相同',
  'Node {id} ({name}): {problem}': '节点 {id}（{name}）：{problem}',
  'Either text or nodes is needed': '需要提供 text 或 nodes',
  'or nodes is needed': '与 nodes 至少填写一个',
  'The import contains no readable node, so replacing would leave none; add ?allow_empty=true to do so.':
    '导入内容中没有可识别的节点，替换后将没有任何节点；如确需如此，请加上 ?allow_empty=true。',
  'There is no subscription {id}.': '订阅 {id} 不存在。',
  'There is no publication {id}': '发布订阅 {id} 不存在',
  'There is no proxy user {id}': '代理用户 {id} 不存在',
  'There are at most {max} proxy users': '代理用户最多 {max} 个',
  'must be 1 to 64 characters of printable ASCII without spaces and colons':
    '必须为 1 到 64 个可打印的 ASCII 字符，不含空格和冒号',
  'must be 8 to 128 characters of printable ASCII without spaces': '必须为 8 到 128 个可打印的 ASCII 字符，不含空格',
  'is the name of another proxy user': '是另一个代理用户的名称',
  'is the name of a user in the setting kernel.users, or in PROXY_KERNEL_USERS':
    '是设置 kernel.users 或 PROXY_KERNEL_USERS 中的用户名',
  'is the name under which this service itself uses the proxy': '是本服务自身使用代理时的用户名',
  'cannot have {name}, which is the name of a proxy user': '不能包含 {name}，它是代理用户的名称',
  'is not the name of a user of the proxy that can log in': '不是可以登录的代理用户',
  'mihomo reads nothing behind the name of a user': 'mihomo 不读取用户名后的参数',
  'group is another one than that of this listener': 'group 与此端口的代理组不同',
  'There is no such publication': '没有这个发布订阅',
  'There is no template {id}': '模板 {id} 不存在',
  'is already the name of template {id}': '已被模板 {id} 使用',
  'is not a template': '不是模板',
  'is a second template for {target}': '是 {target} 的第二个模板',
  'Publications use template {name}: {names}': '模板 {name} 正被以下发布使用：{names}',
  'Template {name} cannot be opened: it was sealed with another secret key':
    '无法读取模板 {name}：它是用另一个密钥加密的',
  'It has changed since it was read; read it again': '内容已被他人更改，请重新读取',
  'has no group {group}, which the replacement names': '没有替换文本引用的分组 {group}',
  'must be given for rename': '重命名步骤必须填写',
  'must be given for limit': '限制数量步骤必须填写',
  'must be an address or a network such as 203.0.113.0/24': '必须是地址或网段，例如 203.0.113.0/24',
  'userinfo must be none, sum or the id of a subscription': 'userinfo 必须是 none、sum 或订阅的编号',
  'Subscription {id} has not been refreshed yet.': '订阅 {id} 尚未更新。',
  'must be printable ASCII': '只能包含可打印的 ASCII 字符',
  'There is no job {id}.': '任务 {id} 不存在。',
  'The job has already ended: it is {status}.': '任务已结束：{status}。',
  'A job of the kind {kind} cannot be cancelled.': '不能取消 {kind} 类型的任务。',
  'The job {id} was cancelled. Nothing was changed.': '任务 {id} 已取消，未作任何更改。',
  '{count} streams are open already; GET /jobs/{id} shows the same.':
    '已有 {count} 个事件流；可改用 GET /jobs/{id} 查看。',
};

const GROUPS: ErrorTexts = {
  'There is no group {name}.': '代理组 {name} 不存在。',
  'Group {name} already exists.': '代理组 {name} 已存在。',
  'There can be {count} groups.': '最多 {count} 个代理组。',
  '{group} spreads connections over its members: none of them can be chosen.':
    '代理组 {group} 采用负载均衡，不能手动选择节点。',
  '{group} is the fallback of other groups and cannot be deleted.': '{group} 是兜底代理组，不能删除。',
  '{group} is automatic: it goes with its last node.': '{group} 由系统自动维护，最后一个节点删除后会自动移除。',
  '{group} cannot be a member of itself': '{group} 不能包含自己',
  'cannot be changed: the group is automatic': '不能更改：此代理组由系统自动维护',
  'cannot be changed for {group}': '不能更改 {group} 的此项',
  'needs a filter to exclude nodes from': '需要先填写筛选条件',
  'is needed where there is no filter and no countries are included': '未设置筛选条件和国家或地区时必填',
  '{type} is not a node type': '{type} 不是节点类型',
  'the regular expression {problem}': '正则表达式{problem}',
  'is for groups of type {type}': '仅适用于 {type} 类型的代理组',
  'the groups contain each other: {path}': '代理组互相包含：{path}',
  'groups lead through more than {count} others': '代理组嵌套超过 {count} 层',
  'is this group': '是当前代理组',
  '{group} has it as a member': '{group} 包含此项',
  'rule {id} ({type},{payload}) leads to it': '规则 {id}（{type},{payload}）指向此项',
  '{name} is in use by {users}.': '{name} 正被以下对象使用：{users}。',
  'is not a member of the group {name}': '不是代理组 {name} 的成员',
  'is the name of a built-in policy': '是内置策略的名称',
  'must not begin or end with a space': '首尾不能有空格',
  'must not contain a comma: it separates the parts of a rule': '不能包含逗号（逗号用于分隔规则的各部分）',
  'must be HTTP statuses such as 204 or 200-299/301': '必须是 HTTP 状态码，例如 204 或 200-299/301',
  'must be an http, https or data:image address': '必须是 http、https 或 data:image 地址',
  'No node or group is called {name}.': '不存在名为 {name} 的节点或代理组。',
  'No node or group is called {name}': '不存在名为 {name} 的节点或代理组',
  '{count} nodes are called {name}: use {tags}.': '有 {count} 个节点名为 {name}，请使用 {tags}。',
  '{count} nodes are called {name}: use {tags}': '有 {count} 个节点名为 {name}，请使用 {tags}',
  'is longer than {count} characters': '超过 {count} 个字符',
  'has more than {count} repetitions': '的重复次数超过 {count}',
  'has more than {count} steps once its repetitions are written out: is too large':
    '展开重复后超过 {count} 步，过于复杂',
  'has more than {count} groups in each other': '的分组嵌套超过 {count} 层',
  'has {part}, which cannot be read': '包含无法识别的 {part}',
  'has a repetition that runs backwards': '的重复范围上下限颠倒',
  'has a quantifier on nothing': '的量词前没有内容',
  'has a quantifier on an assertion': '不能对断言使用量词',
  'has a look-around or another special group, which is not supported': '包含不支持的环视或特殊分组',
  'has a back reference, which is not supported': '包含不支持的反向引用',
  'has a ) that closes nothing': '有多余的右括号',
  'has a ( that is not closed': '有未闭合的左括号',
};

const RULES: ErrorTexts = {
  'There is no rule {id}': '规则 {id} 不存在',
  'The rule was deleted by another request': '规则已被另一个请求删除',
  'is not another manual rule': '不是另一条手动规则',
  'Rule {id} belongs to its {source}': '规则 {id} 属于 {source}',
  'is not a group, node or built-in policy': '不是代理组、节点或内置策略',
  'target {name}: {problem}': '目标 {name}：{problem}',
  'text or rules is required': '需要提供 text 或 rules',
  'text and rules exclude each other': 'text 与 rules 只能提供一个',
  'It contains no valid rule; allow_empty=true removes all rules':
    '内容中没有有效规则；allow_empty=true 会删除全部规则',
  'must be an object or a line': '必须是对象或一行文本',
  'must be true or false': '必须是 true 或 false',
  'must be at most {max} characters': '最多 {max} 个字符',
  'must have at most {max} characters': '最多 {max} 个字符',
  'must be a whole number of at most {max}': '必须是不大于 {max} 的整数',
  'is not an address prefix': '不是地址段',
  'needs a prefix length, as in {example}': '需要前缀长度，例如 {example}',
  'There is no rule set {id}.': '规则集 {id} 不存在。',
  'Some entries cannot be read': '部分条目无法识别',
  'must be letters, digits, spaces and any of . _ @ ! + -': '只能包含字母、数字、空格和 . _ @ ! + -',
  'is already the name of rule set {id}': '与规则集 {id} 重名',
  '{count} rules name the rule set {name}: {rules}': '有 {count} 条规则使用规则集 {name}：{rules}',
  'must be a list of texts that are not empty': '必须是非空文本的列表',
  'is disabled': '已停用',
  '{count} streams of the log are open already': '已有 {count} 个日志流',
  'offset and cursor exclude each other': 'offset 与 cursor 只能使用一个',
  'must be 0 when cursor is given': '使用 cursor 时必须为 0',
  'The search took too long; use a longer keyword': '搜索超时，请使用更长的关键词',
  'must not be after the end': '不能晚于结束时间',
  'answered {status}, expected {expected}': '返回 {status}，预期为 {expected}',
};

const SOURCES: ErrorTexts = {
  'The address cannot be opened: it was sealed with another secret key, or for another row. Set it again.':
    '无法读取网址：加密时使用了其他主密钥，或属于另一条记录。请重新填写。',
  'The reply takes too much time or memory to read.': '返回内容过于复杂，无法解析。',
  'The job failed; see the runtime log for the reason.': '任务失败，原因请查看运行日志。',
  'which cannot refuse private targets as configured': '无法按要求拒绝内网目标',
  'holds more than {limit} bytes of entries': '条目总计超过 {limit} 字节',
  'there is no list of sites {name}': '不存在站点列表 {name}',
  'must not be a path': '不能是路径',
  'must name each domain once: {domain}': '域名不能重复：{domain}',
  'must be address:port such as 127.0.0.1:1053 or [::1]:1053, or :port; names have to be addresses':
    '格式必须为 地址:端口（例如 127.0.0.1:1053 或 [::1]:1053）或 :端口，不能使用主机名',
  'must be usable: {reason}': '不可用：{reason}',
  'The rule set was changed during the refresh; the reply belongs to its previous definition.':
    '更新期间规则集已被更改，返回内容属于更改前的定义。',
  'None of the {count} entries of the reply can be read.': '返回的 {count} 个条目均无法识别。',
  '{host} is a private or reserved address; allow private addresses on the subscription (allow_private) to fetch it anyway.':
    '{host} 是内网或保留地址；如需访问，请在订阅中允许内网地址（allow_private）。',
  'The provider answered {status}.': '服务器返回状态码 {status}。',
  'The address is private or reserved; geo.allow_private allows it.':
    '地址属于私有或保留网段；可开启 geo.allow_private。',
  'Not a usable database: {problem}.': '数据库无法使用：{problem}。',
  'The provider did not answer within {milliseconds} ms.': '服务器在 {milliseconds} 毫秒内没有响应。',
  'The provider cannot be reached or broke the connection{code}.': '无法连接服务器，或连接中断{code}。',
  'The name of the provider cannot be resolved.': '无法解析服务器域名。',
  'The address redirects more than {count} times.': '重定向超过 {count} 次。',
  'The address is not an http or https URL.': '地址不是 http 或 https 网址。',
  'The reply is encoded as "{coding}", which is not known.': '返回内容使用了未知的编码“{coding}”。',
  'The reply has too many encodings.': '返回内容的编码层数过多。',
  'The reply is not valid {coding}.': '返回内容不是有效的 {coding} 数据。',
  'The {what} is larger than {limit} bytes.': '内容超过 {limit} 字节。',
  'The reply has no length, and a second one differs from it.': '返回内容没有长度，且两次返回的内容不一致。',
  'The proxy kernel, through which this should go, is not listening.': '此请求需要经过代理内核，但代理内核未监听。',
  'The path is not a file.': '路径不是文件。',
  'The path leads out of the folder {folder}.': '路径超出文件夹 {folder}。',
  'There is no such file in the folder {folder}.': '文件夹 {folder} 中没有此文件。',
  'The file cannot be read{code}.': '无法读取文件{code}。',
  'It is not a valid rule set: {reason}.': '不是有效的规则集：{reason}。',
  'The geo databases are already being updated': '地理数据库正在更新',
  'The reply contains no readable node.': '返回内容中没有可识别的节点。',
  'The reply contains {count} nodes instead of {before}; that is below the accepted share.':
    '返回 {count} 个节点，此前为 {before} 个，低于可接受的比例。',
};

const PROFILES: ErrorTexts = {
  ...Object.fromEntries(PROFILE_REASONS.map((reason) => [PROFILE_TEXTS[reason], PROFILE_TEXTS_ZH_CN[reason]])),
  'give exactly one of url, subscription_id and text': 'url、subscription_id 和 text 必须且只能给出一个',
  'The profile cannot be used: {reason}.': '无法使用此配置：{reason}。',
  'The provider did not send the content.': '订阅服务器没有返回内容。',
  'subscription {id} has no profile: set its bring_rules and refresh it':
    '订阅 {id} 没有配置：请启用 bring_rules 并刷新',
  'the profile of subscription {id} is not active': '订阅 {id} 的配置未启用',
  '{name} comes from the profile of subscription {id}: only its choice can be changed':
    '{name} 来自订阅 {id} 的配置，只能更改其选择',
};

/** Errors of this service in Chinese, by their English texts. */
export const PROXY_ERROR_TEXTS: ErrorTexts = {
  ...ACCESS,
  ...NODES,
  ...GROUPS,
  ...RULES,
  ...SOURCES,
  ...PROFILES,
  ...KERNEL_TEXTS,
  ...FORMAT_TEXTS,
};
