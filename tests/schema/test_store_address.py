"""Addresses of shared stores: what is understood, and what is refused with which words."""

from pathlib import Path

import pytest

from flows.common.errors import ConfigError
from flows.schema.store_address import StoreAddress


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://bucket", "s3://bucket"),
        ("S3://bucket/a/b/", "s3://bucket/a/b"),
        ("gs://bucket.of.team/a", "gs://bucket.of.team/a"),
        ("az://container/a=1", "az://container/a=1"),
        ("/mnt/shared store/x", "file:///mnt/shared store/x"),
        ("file:///mnt/shared%20store/x", "file:///mnt/shared store/x"),
        ("shared", "file:///project/shared"),
    ],
)
def test_addresses_are_understood(text, shown):
    assert str(StoreAddress.of(text, Path("/project"))) == shown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("None", "a folder of that name is hardly meant"),
        ("s3://buck\net", "a character that no address has"),
        ("s3://", "names no bucket: ''"),
        ("s3:bucket/x", "names no bucket: ''"),
        ("s3:/bucket/x", "names no bucket: ''"),
        ("s3://b/x", "names no bucket: 'b'"),
        ("https://bucket.example/x", "an address of kind https"),
        ("s3a://bucket/x", "an address of kind s3a"),
        ("s3://[bad/x", "not an address"),
        ("s3://bucket/../x", "the prefix is not one"),
        ("s3://bucket/ü", "the prefix is not one"),
        ("file://host/x", "names no folder"),
        ("file:///", "names no folder"),
        ("file:", "names no folder"),
    ],
)
def test_others_are_refused_by_name(text, found):
    with pytest.raises(ConfigError) as error:
        StoreAddress.of(text)
    assert found in error.value.found
    assert error.value.expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://KEY77:SECRET77@bucket/x", "s3://bucket/x"),
        ("s3://KEY77://SECRET77@bucket/x", "s3://bucket/x"),
        ("KEY77:SECRET77@bucket/x", "bucket/x"),
        ("az://container/x?sig=SECRET77", "az://container/x"),
        ("s3://bucket/x#SECRET77", "s3://bucket/x"),
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_shown(text, shown):
    with pytest.raises(ConfigError, match="parameters") as error:
        StoreAddress.of(text)
    assert error.value.where == f"store={shown}"
    assert "77" not in str(error.value)
