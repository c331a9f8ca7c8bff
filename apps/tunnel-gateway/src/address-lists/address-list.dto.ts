import { IsBoolean, IsString, MaxLength } from 'class-validator';
import { MAX_INTERVAL, MIN_INTERVAL } from '../data/address-list.entity.js';
import { byText, SortedBy, TIMES } from '../data/sort-keys.js';
import { Omittable } from '../wire/omittable.js';
import { PageQuery, SearchText } from '../wire/page-query.js';
import { Line, Whole } from '../wire/text-fields.js';

export const ADDRESS_LIST_SORTS = { name: byText('row.name'), ...TIMES };

export class AddressListQuery extends PageQuery {
  /** A part of the name or the URL. */
  @SearchText()
  q?: string;

  @SortedBy(ADDRESS_LIST_SORTS)
  sort = 'id';
}

class AddressListFields {
  /** How often it is fetched: from 10 to 10080, a week. Default 1440, a day. */
  @Omittable()
  @Whole(MIN_INTERVAL, MAX_INTERVAL)
  interval_minutes?: number;

  /** The URL may lead into the gateway's own network, and begin with http://. Redirects to other servers may not. */
  @Omittable()
  @IsBoolean()
  allow_private?: boolean;
}

export class AddressListChanges extends AddressListFields {
  /** A text: an address, a network or a range to a line. */
  @Omittable()
  @IsString()
  @MaxLength(2_048)
  url?: string;
}

export class NewAddressListBody extends AddressListFields {
  /** What rules call it. It cannot be changed later. */
  @Line(64)
  name: string;

  /** A text: an address, a network or a range to a line. */
  @IsString()
  @MaxLength(2_048)
  url: string;
}
