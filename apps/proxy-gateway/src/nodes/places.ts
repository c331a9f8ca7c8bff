/** Cities and short forms that providers use instead of the name of a country. */
export const PLACES: Readonly<Record<string, string>> = {
  'hong kong': 'HK', hongkong: 'HK', 香港: 'HK', 深港: 'HK', 沪港: 'HK', 京港: 'HK', 广港: 'HK',
  taipei: 'TW', 台北: 'TW', 台湾: 'TW', 台灣: 'TW', 新北: 'TW', 彰化: 'TW',
  tokyo: 'JP', osaka: 'JP', 东京: 'JP', 東京: 'JP', 大阪: 'JP', 埼玉: 'JP', 沪日: 'JP', 广日: 'JP', 深日: 'JP',
  seoul: 'KR', 首尔: 'KR', 首爾: 'KR', 春川: 'KR', korea: 'KR', 韩国: 'KR', 韓國: 'KR',
  狮城: 'SG', 獅城: 'SG',
  'los angeles': 'US', 'san jose': 'US', 'silicon valley': 'US', seattle: 'US', 'new york': 'US', chicago: 'US', dallas: 'US', phoenix: 'US', ashburn: 'US', fremont: 'US', miami: 'US',
  洛杉矶: 'US', 圣何塞: 'US', 硅谷: 'US', 西雅图: 'US', 纽约: 'US', 芝加哥: 'US', 达拉斯: 'US', 凤凰城: 'US', 美國: 'US', 美国: 'US', america: 'US', usa: 'US',
  london: 'GB', 伦敦: 'GB', 英国: 'GB', 英國: 'GB', england: 'GB', britain: 'GB',
  frankfurt: 'DE', 法兰克福: 'DE', 'saint petersburg': 'RU', moscow: 'RU', 莫斯科: 'RU', 俄罗斯: 'RU', 俄羅斯: 'RU', 伯力: 'RU', 新西伯利亚: 'RU',
  paris: 'FR', 巴黎: 'FR', amsterdam: 'NL', 阿姆斯特丹: 'NL', holland: 'NL', sydney: 'AU', 悉尼: 'AU', 墨尔本: 'AU', toronto: 'CA', montreal: 'CA', vancouver: 'CA', 多伦多: 'CA',
  mumbai: 'IN', 孟买: 'IN', istanbul: 'TR', 伊斯坦布尔: 'TR', turkey: 'TR', dubai: 'AE', 迪拜: 'AE', 'sao paulo': 'BR', 圣保罗: 'BR',
  bangkok: 'TH', 曼谷: 'TH', jakarta: 'ID', 雅加达: 'ID', manila: 'PH', 'kuala lumpur': 'MY', 吉隆坡: 'MY', zurich: 'CH', 苏黎世: 'CH', stockholm: 'SE', warsaw: 'PL', vietnam: 'VN',
  virginia: 'US', oregon: 'US', ohio: 'US', california: 'US', texas: 'US', florida: 'US', washington: 'US', atlanta: 'US', houston: 'US', denver: 'US', boston: 'US', 'las vegas': 'US', 'salt lake': 'US', buffalo: 'US', kansas: 'US', portland: 'US', hillsboro: 'US', 'san francisco': 'US', 'santa clara': 'US', charlotte: 'US', detroit: 'US', philadelphia: 'US', hawaii: 'US', 'new jersey': 'US', secaucus: 'US', nevada: 'US', arizona: 'US', utah: 'US', illinois: 'US',
  弗吉尼亚: 'US', 俄勒冈: 'US', 旧金山: 'US', 迈阿密: 'US', 波特兰: 'US', 圣克拉拉: 'US', 费利蒙: 'US', 亚特兰大: 'US',
  manchester: 'GB', edinburgh: 'GB', berlin: 'DE', munich: 'DE', nuremberg: 'DE', falkenstein: 'DE', düsseldorf: 'DE', hamburg: 'DE', 柏林: 'DE', marseille: 'FR', strasbourg: 'FR', rotterdam: 'NL', brussels: 'BE', vienna: 'AT', 维也纳: 'AT', geneva: 'CH', milan: 'IT', rome: 'IT', 米兰: 'IT', madrid: 'ES', barcelona: 'ES', 马德里: 'ES', lisbon: 'PT', dublin: 'IE', 都柏林: 'IE', oslo: 'NO', copenhagen: 'DK', helsinki: 'FI', 赫尔辛基: 'FI', prague: 'CZ', budapest: 'HU', bucharest: 'RO', sofia: 'BG', athens: 'GR', kyiv: 'UA', kiev: 'UA', 基辅: 'UA', chisinau: 'MD', riga: 'LV', vilnius: 'LT', tallinn: 'EE', reykjavik: 'IS', zagreb: 'HR', belgrade: 'RS', khabarovsk: 'RU', novosibirsk: 'RU',
  melbourne: 'AU', brisbane: 'AU', perth: 'AU', auckland: 'NZ', 奥克兰: 'NZ', delhi: 'IN', bangalore: 'IN', chennai: 'IN', hyderabad: 'IN', 新德里: 'IN', ankara: 'TR', 'abu dhabi': 'AE', riyadh: 'SA', jeddah: 'SA', 'tel aviv': 'IL', cairo: 'EG', johannesburg: 'ZA', 'cape town': 'ZA', lagos: 'NG', nairobi: 'KE', almaty: 'KZ', ulaanbaatar: 'MN',
  'são paulo': 'BR', 'rio de janeiro': 'BR', 'buenos aires': 'AR', santiago: 'CL', bogota: 'CO', lima: 'PE', queretaro: 'MX', quebec: 'CA', 蒙特利尔: 'CA', 温哥华: 'CA', hanoi: 'VN', 'ho chi minh': 'VN', saigon: 'VN', 河内: 'VN', 胡志明: 'VN', 马尼拉: 'PH', 'phnom penh': 'KH', yangon: 'MM', macau: 'MO', 澳门: 'MO', kaohsiung: 'TW', 高雄: 'TW', fukuoka: 'JP', nagoya: 'JP', sapporo: 'JP', 福冈: 'JP', 名古屋: 'JP', busan: 'KR', chuncheon: 'KR', 釜山: 'KR',
  阿联酋: 'AE', beijing: 'CN', shanghai: 'CN', guangzhou: 'CN', shenzhen: 'CN', 北京: 'CN', 上海: 'CN', 广州: 'CN', 深圳: 'CN',
}; // prettier-ignore

/** Airports and codes of three letters that providers name their places by. */
const CODES: Readonly<Record<string, string>> = {
  US: 'LAX SJC SFO SEA JFK EWR LGA ORD DFW IAD ATL MIA PHX LAS DEN PDX BOS IAH SLC NYC USA',
  JP: 'NRT HND KIX NGO CTS FUK TYO OSA JPN', KR: 'ICN GMP PUS SEL KOR', TW: 'TPE KHH TSA TWN', HK: 'HKG', MO: 'MFM', SG: 'SIN SGP',
  GB: 'LHR LGW LON EDI GBR', DE: 'FRA MUC DUS BER TXL HAM DEU', FR: 'CDG ORY MRS', NL: 'AMS NLD', CH: 'ZRH GVA CHE', SE: 'ARN STO SWE', PL: 'WAW POL', RU: 'SVO DME MOW RUS',
  CA: 'YYZ YVR YUL', AU: 'SYD MEL BNE AUS', NZ: 'AKL NZL', IN: 'BOM DEL MAA BLR IND', TR: 'IST SAW TUR', AE: 'DXB AUH ARE', BR: 'GRU GIG BRA', AR: 'EZE ARG', CL: 'SCL', MX: 'MEX QRO',
  TH: 'BKK THA', ID: 'CGK JKT IDN', PH: 'MNL PHL', MY: 'KUL MYS', VN: 'SGN HAN VNM', ES: 'BCN ESP', IT: 'MXP FCO ITA', FI: 'HEL', NO: 'OSL', DK: 'CPH', IE: 'DUB', AT: 'VIE', BE: 'BRU', CZ: 'PRG', HU: 'BUD', RO: 'OTP', UA: 'KBP IEV UKR', IL: 'TLV', ZA: 'JNB CPT', CN: 'PVG PEK SZX CTU',
}; // prettier-ignore

/** By code, upper case. */
export const PLACE_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries(CODES).flatMap(([country, codes]) => codes.split(' ').map((code) => [code, country] as const)),
);

/** Codes that are words as well: they count in capitals, or with a number behind them. */
export const WORDS_AMONG_CODES: ReadonlySet<string> = new Set(
  'SIN SEA DEN MEL DEL GIG HAN HAM BUD DUB BRA USA IND ARE POL CHE FRA LAS SAW MEX'.split(' '),
);
