import { IgnoresUnknownFields, SchemaRule } from '@gatehouse/platform';
import { MAX_TEXT_BYTES, SHARE_LINK_KINDS, type ShareLink, type ShareLinkKind } from '@gatehouse/share-links';
import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { ACCESS_CODE, LINK_TEXT } from './link-schema.js';

@IgnoresUnknownFields()
@SchemaRule({ properties: { url: LINK_TEXT, access_code: ACCESS_CODE } })
export class CheckResourceBody {
  /** A link, or a text with one in it. */
  @IsString()
  @IsNotEmpty()
  @MaxLength(MAX_TEXT_BYTES)
  url: string;

  /** If it is given, it has priority over the one in the link. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  access_code?: string | null;
}

/** What is known about a link. */
export class CheckedResourceView {
  @ApiProperty({ enum: SHARE_LINK_KINDS })
  website: ShareLinkKind;
  @ApiProperty({ enum: SHARE_LINK_KINDS })
  pan_type: ShareLinkKind;
  @ApiProperty({ type: Boolean, description: 'False if the site is not known' })
  supported: boolean;
  @ApiProperty({ type: String, description: 'The link, without its access code' })
  url: string;
  @ApiProperty({ type: String })
  base_link: string;
  @ApiProperty({ type: String, description: 'Empty if there is none' })
  access_code: string;
  @ApiProperty({ type: Boolean, description: 'Two different access codes were found' })
  access_code_conflict: boolean;
  @ApiProperty({ type: String, nullable: true, description: 'Title of the share on its site' })
  share_id: string | null;
  @ApiProperty({ type: String, description: 'The link with its access code' })
  full_url: string;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Suggested price of a share of this link, in points' })
  default_unlock_points: number;
}

export function toCheckedResource(link: ShareLink, defaultUnlockPoints: number): CheckedResourceView {
  return {
    website: link.kind,
    pan_type: link.kind,
    supported: link.supported,
    url: link.url,
    base_link: link.url,
    access_code: link.accessCode,
    access_code_conflict: link.accessCodeConflict,
    share_id: link.id,
    full_url: link.fullUrl,
    default_unlock_points: link.supported ? defaultUnlockPoints : 0,
  };
}
