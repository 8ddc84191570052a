"""Which test carries out which remedy, for each class of terminal errors that has more than one.

By the class and how the remedy begins in the code, without what is filled in; where it is handed over, by the file and
function that do (:mod:`tests.remedies.raise_sites`). :mod:`tests.remedies.inventory` has the classes with one remedy.
"""

from __future__ import annotations

_ADOPT = "tests/remedies/test_adopt.py"
_ARGUMENTS = "tests/remedies/test_wrong_arguments.py"
_CHECKPOINT = "tests/remedies/test_checkpoint_errors.py"
_CONTENTS = "tests/remedies/test_zone_contents.py"
_DATABASE = "tests/remedies/test_database_errors.py"
_DEMO = "tests/remedies/test_demo_errors.py"
_DISK = "tests/remedies/test_disk_errors.py"
_ELSEWHERE = "tests/remedies/test_ledger_elsewhere.py"
_KAFKA = "tests/remedies/test_kafka_errors.py"
_LEDGER = "tests/remedies/test_ledger_errors.py"
_LETTERS = "tests/remedies/test_letter_errors.py"
_MACHINE = "tests/remedies/test_machine_errors.py"
_MEANWHILE = "tests/remedies/test_meanwhile_errors.py"
_ONELAKE = "tests/remedies/test_onelake_errors.py"
_RESOLVE = "tests/remedies/test_resolve.py"
_RUNNING = "tests/remedies/test_running_errors.py"
_SCHEMA = "tests/remedies/test_schema_errors.py"
_SECURED = "tests/remedies/test_secured_errors.py"
_SERVICE = "tests/remedies/test_service_errors.py"
_SETTINGS = "tests/remedies/test_settings_errors.py"
_SNAPSHOT = "tests/remedies/test_snapshot_errors.py"
_SPARK = "tests/remedies/test_spark_errors.py"
_START = "tests/remedies/test_start_errors.py"
_TAKEN = "tests/remedies/test_resolve_taken.py"
_GONE = "tests/remedies/test_topics_gone.py"
_TOPICS = "tests/remedies/test_topic_errors.py"
_ZONE = "tests/remedies/test_zone_errors.py"

SITES: dict[str, dict[str, tuple[str, str]]] = {
    "AdoptRefusedError": {
        "`cdc-bridge ledger rebuild CONFIG": (_ARGUMENTS, "test_adopt_of_a_zone_whose_ledger_is_lost"),
        "`cdc-bridge run CONFIG` begins": (_ARGUMENTS, "test_adopt_of_a_zone_that_is_empty"),
        "set kafka.starting: earliest": (_ADOPT, "test_a_position_has_to_be_declared"),
    },
    "ClientOptionsError": {
        "use one of ": (_MACHINE, "test_client_options"),
        "correct the option or the file": (_ARGUMENTS, "test_client_options_that_librdkafka_does_not_take"),
        "check key_password (or its": (_SECURED, "test_client_options_that_only_java_refuses"),
        "check the path in the": (_SECURED, "test_client_options_that_only_java_refuses"),
        "connectors/kafka/client_options.py::_misfit": (_SECURED, "test_client_options_that_do_not_fit_together"),
        "connectors/kafka/pem.py::_blocks": (_SECURED, "test_client_options_that_only_java_refuses"),
        "say the same for Java under": (_SECURED, "test_client_options_that_only_java_refuses"),
    },
    "DeadLetterRefusedError": {
        "raise max.message.bytes of": (_KAFKA, "test_dead_letter_refused"),
        "create the dead-letter": (_KAFKA, "test_dead_letter_refused_without_its_topic"),
        "let the bridge's user write": (_SECURED, "test_dead_letter_refused_to_a_user_who_may_not_write"),
    },
    "DecisionRefusedError": {
        "cdc-bridge resync CONFIG {}; or, if": (_ARGUMENTS, "test_decision_to_keep_what_nobody_can_read"),
        "cdc-bridge resolve CONFIG {} --dry-run": (_TAKEN, "test_a_refused_decision_is_followed_by_one_that_fits"),
    },
    "DemoFolderError": {
        "name a new or an empty folder": (
            _DEMO,
            "test_what_stops_a_demo_and_that_the_next_one_lands_what_is_true",
        ),
        "name a folder that this": (_DEMO, "test_what_stops_a_demo_and_that_the_next_one_lands_what_is_true"),
    },
    "ExportError": {
        "check the directory, or": (_ARGUMENTS, "test_export_into_a_file"),
        "pip install deltalake": (_START, "test_export"),
        "choose another format: ": (_ARGUMENTS, "test_export_of_a_type_that_the_format_lacks"),
    },
    "FabricDeniedError": {
        "correct fabric.ca_file": (_MEANWHILE, "test_fabric_denied_without_its_certificates"),
        "give the bridge's identity 'Read'": (_SERVICE, "TestFabric::test_refusal"),
        "check the workload": (_SERVICE, "TestFabric::test_sign_in"),
    },
    "FencedError": {
        "leave the zone to that driver": (_LEDGER, "test_fenced"),
        "it was made again in, or": (_ELSEWHERE, "test_fenced_by_a_ledger_that_was_made_again_elsewhere"),
        "nothing was changed; stop": (_ELSEWHERE, "test_fenced_by_a_bridge_that_goes_on_while_a_file_is_looked_at"),
    },
    "ForeignLedgerError": {
        "set landing_zone.url to the zone": (_LEDGER, "test_foreign_ledger"),
        "another source needs a": (_ELSEWHERE, "test_foreign_ledger_of_a_source_whose_name_was_changed"),
    },
    "InvalidDraftError": {
        "restart the bridge: nothing": (_LEDGER, "test_invalid_draft_that_comes_again"),
    },
    "InvalidLocationError": {
        "write an absolute path after": (_START, "test_location"),
        "use file:///folder or abfss://": (_START, "test_location"),
        "correct api_version,": (_ONELAKE, "test_location_whose_options_the_clients_do_not_take"),
        "write abfss://<workspace": (_ONELAKE, "test_location_that_is_not_one_of_onelake"),
    },
    "InvalidZoneError": {
        "restore it from the ledger's id": (_ZONE, "test_invalid_zone"),
        "ask for a number from 0 to ": (_ARGUMENTS, "test_invalid_zone_of_a_number_that_no_file_has"),
        "name one of the zone's tables": (_ARGUMENTS, "test_invalid_zone_of_a_table_that_is_not_there"),
        "name the folder that holds the tables' folders, or": (
            _ARGUMENTS,
            "test_invalid_zone_of_a_folder_without_anything",
        ),
        "name the folder that holds the tables' folders, as": (
            _ARGUMENTS,
            "test_invalid_zone_of_a_folder_of_other_things",
        ),
        "name the landing zone itself: ": (_ARGUMENTS, "test_invalid_zone_of_a_folder_in_one"),
        "check landing_zone.url in": (_CONTENTS, "test_invalid_zone_that_no_bridge_has_filled"),
        "check the zone's url: it": (_CONTENTS, "test_invalid_zone_of_a_bridge_that_has_landed_nothing"),
        "connectors/landing_zone/replay/table_metadata.py::_invalid": (
            _CONTENTS,
            "test_invalid_zone_of_metadata_that_the_format_does_not_allow",
        ),
        "put every text value in": (_CONTENTS, "test_invalid_zone_of_metadata_that_is_no_json"),
    },
    "JarsError": {
        "let  name a folder that this": (_MACHINE, "TestJars::test_no_network"),
        "check the network; without": (_MACHINE, "TestJars::test_no_network"),
    },
    "KafkaAccessError": {
        "check user, password": (
            "tests/integration/test_secured_clients.py",
            "test_a_bridge_that_is_refused_lands_once_its_password_is_renewed",
        ),
        "create it: kafka-topics.sh": (_SECURED, "test_kafka_access_to_a_dead_letter_topic_that_is_not_there"),
    },
    "LedgerBehindError": {
        "if the ledger was restored": (_ZONE, "test_ledger_behind_because_of_another_writer"),
        "an older ledger was put": (_ELSEWHERE, "test_ledger_behind_the_copy_of_a_newer_one"),
        "set state.url to where this": (_ELSEWHERE, "test_ledger_behind_because_it_is_another_one_without_a_table"),
    },
    "LedgerCorruptError": {
        "; nothing is published until": (_LEDGER, "test_ledger_corrupt"),
        "connectors/landing_zone/ledger/history.py::rebuild": (_ELSEWHERE, "test_ledger_corrupt_without_a_whole_state"),
        "stop that driver and every": (_ELSEWHERE, "test_ledger_corrupt_because_of_another_ones_driver"),
    },
    "LedgerWholeError": {
        "nothing was changed; `cdc-bridge status": (_LEDGER, "test_ledger_whole"),
        "`cdc-bridge status CONFIG`": (
            _ELSEWHERE,
            "test_ledger_whole_because_somebody_else_has_made_it_again_meanwhile",
        ),
    },
    "NoSuchRecordError": {
        "ask for a neighbouring offset": (_ARGUMENTS, "test_no_such_record_at_the_end_of_a_transaction"),
        "name one from 0 to ": (_START, "TestRecord::test_that_is_not_there"),
        "name the partition with": (_ARGUMENTS, "test_no_such_record_without_its_partition"),
        "ask for an offset among them": (_START, "TestRecord::test_that_is_not_there"),
    },
    "OffsetGapError": {
        "the topic has lost records: ": (_LEDGER, "test_offset_gap_of_a_rewound_topic"),
        "the topic has lost records, as in": (_LEDGER, "test_offset_gap_of_a_rewound_topic"),
        "; give the topic a longer retention": (_TOPICS, "test_offset_gap"),
        "restart the job: it sets": (_CHECKPOINT, "test_offset_gap_of_a_checkpoint_that_is_ahead"),
    },
    "PathNotFoundError": {
        "read the zone again; the": (_MEANWHILE, "test_path_not_found"),
        "look whether another process": (_RUNNING, "test_path_not_found_by_a_running_bridge"),
    },
    "RecordsGoneError": {
        "rebuild the table with cdc-bridge resync CONFIG {}, and give its": (_LEDGER, "test_records_gone"),
        "rebuild the table with cdc-bridge resync CONFIG {}": (
            _LETTERS,
            "test_records_gone_that_may_be_newer_than_a_letter",
        ),
        "retention has removed it,": (_MEANWHILE, "test_records_gone_before_they_are_read"),
    },
    "RegistryAccessError": {
        "check username, password and": (_SERVICE, "TestRegistryAccess::test_user"),
        "check ca_file, certificate_file": (_SERVICE, "TestRegistryAccess::test_file"),
    },
    "SchemaError": {
        "look at the record with": ("tests/remedies/test_record_errors.py", "test_schema"),
        "look at the record's": (_SCHEMA, "test_schema_of_a_decimal"),
        "look at the schema in the registry; Kafka": (_SCHEMA, "test_schema_in_the_registry"),
        "look at the schema in the registry; it must": (_SCHEMA, "test_schema_in_the_registry"),
    },
    "SettingsError": {
        "save it as UTF-8": (_ARGUMENTS, "test_settings_that_are_not_text"),
        "make it a file that this process": (_ARGUMENTS, "test_settings_that_are_a_folder"),
        "check the path, or write one": (_ARGUMENTS, "test_settings_that_are_not_there"),
        "make the file readable for": (_ARGUMENTS, "test_settings_whose_secret_cannot_be_read"),
        "write the secret into the file": (_ARGUMENTS, "test_settings_whose_secret_cannot_be_read"),
        "mend the file: its section": (_SETTINGS, "test_settings_of_a_lineage_client_that_cannot_be_made"),
        "pip install": (_SETTINGS, "test_settings_of_a_lineage_client_that_is_missing"),
        "set source.database.url,": (_DATABASE, "test_settings_that_name_no_database"),
        "write a longer one into the": (_SETTINGS, "test_settings_of_a_secret_that_is_too_short"),
    },
    "SnapshotRefusedError": {
        "read Debezium's log, mend": (_SNAPSHOT, "test_snapshot_refused"),
        "`cdc-bridge resync CONFIG": (_SNAPSHOT, "TestSnapshotRefused::test_renamed"),
        "give the connector a signal": (_SNAPSHOT, "test_snapshot_refused_that_is_cut_short_each_time"),
        "nothing, if the table is": (_SNAPSHOT, "TestSnapshotRefused::test_gone"),
        "streaming/lifecycle/rebuilding.py::_refuse": (_KAFKA, "test_signal_refused"),
    },
    "SparkStartError": {
        "look at the lines above for": (_SPARK, "test_spark_start"),
        "start the bridge with": (_SPARK, "test_java_of_spark_submit_without_the_jars"),
    },
    "StartingOffsetError": {
        "correct the topic's name there": (_START, "TestStartingOffset::test_that_is_not_there"),
        "correct the partition's number": (_START, "TestStartingOffset::test_that_is_not_there"),
        "choose an offset from ": (_START, "TestStartingOffset::test_that_is_not_there"),
    },
    "StorageDeniedError": {
        "mount the volume of ": (
            "tests/catalogue/test_checkpoint_disk.py",
            "test_one_of_its_own_that_can_only_be_read_is_told_by_a_first_start_and_the_next_one_lands_every_row_once",
        ),
        "look at what is at this path": (_START, "test_storage_denied_by_a_disk"),
        "give the bridge's identity 'Read and write'": (_START, "test_storage_denied"),
        "move the files in it one by one": (
            _MEANWHILE,
            "test_storage_denied_of_a_folder_that_takes_a_file_s_place",
        ),
        "check the part before '@'": (_ONELAKE, "test_storage_denied_because_there_is_no_such_workspace"),
        "check the workload": (_ONELAKE, "test_storage_denied_without_an_identity"),
        "find out who has made it": (_ONELAKE, "test_storage_denied_by_a_work_folder_that_is_not_this_user_s_alone"),
        "give the bridge's user the right to read, write and list ": (
            _CHECKPOINT,
            "test_storage_denied_of_a_checkpoint_in_a_folder_without_rights",
        ),
        "give the bridge's user the right to read, write and list there": (
            _DISK,
            "test_storage_denied_without_the_right_to_write",
        ),
        "if it is a rename, set": (_ONELAKE, "test_storage_denied_of_a_rename_with_a_parameter_that_it_does_not_know"),
        "let the bridge's user write": (
            "tests/catalogue/test_disks.py",
            "test_a_read_only_zone_ends_the_driver_and_what_was_committed_is_published_later",
        ),
        "look up the code in the": (_ONELAKE, "test_storage_denied_of_a_version_that_it_does_not_know"),
        "look who has put a file in": (_DISK, "test_storage_denied_of_a_file_that_takes_a_folder_s_place"),
        "look at what is at the path of": (_CHECKPOINT, "test_storage_denied_of_a_checkpoint_whose_place_a_file_has"),
        "mount the volume writable,": (
            "tests/catalogue/test_disks.py",
            "TestReadOnlyState::test_a_start_is_refused_with_what_to_do_and_changes_nothing",
        ),
        "upload each attempt under a": (_ONELAKE, "test_storage_denied_of_an_upload_whose_name_is_taken"),
        "use a file system with hard": (_DISK, "test_storage_denied_of_a_hard_link_to_another_user_s_file"),
    },
    "TableResetError": {
        "cdc-bridge resync CONFIG {}: its mirrored copy": (_ZONE, "test_table_reset"),
        "cdc-bridge resync CONFIG {}; or, if": (_ZONE, "test_table_reset_of_which_only_the_metadata_is_gone"),
    },
    "TopicNotFoundError": {
        "check the topic's name and": (_MEANWHILE, "test_topic_not_found_by_who_reads_it"),
        "correct , or create the topic": (_KAFKA, "test_topic_not_found"),
        "rebuild the table with cdc-bridge resync CONFIG {}: a topic": (
            _GONE,
            "test_topic_not_found_by_a_table_that_catches_up",
        ),
        "rebuild the table with": (_GONE, "test_topic_not_found_by_a_letter_that_is_replayed"),
    },
    "TopicRecreatedError": {
        "; if the new one continues": (_TOPICS, "test_topic_recreated"),
        "check": (_TOPICS, "test_topic_recreated_in_another_cluster"),
    },
    "UnknownTableError": {
        "name the table as `cdc-bridge": (_START, "test_table_that_nobody_knows"),
        "name one of , none: nothing": (_DATABASE, "test_unknown_table"),
    },
    "UnreadableMirrorError": {
        "the replicator removes files": (
            _DATABASE,
            "test_unreadable_mirror_of_a_file_that_the_replicator_has_removed",
        ),
        "`cdc-bridge verify ZONE` says": (_DATABASE, "test_unreadable_mirror_of_a_file_that_is_damaged"),
    },
    "VersionNotKeptError": {
        "ask for a version from ": (_LEDGER, "test_version_not_kept"),
        "`cdc-bridge run CONFIG --once`": (_ARGUMENTS, "test_version_not_kept_where_nothing_has_landed"),
        "name the state storage of": (_ARGUMENTS, "test_version_not_kept_where_no_ledger_is"),
    },
    "ZoneOwnedError": {
        "name the state storage of": (_ARGUMENTS, "test_zone_owned_by_another_than_is_named"),
        "set state.url to where that ledger is, or put it back there from a backup; otherwise": (
            _LEDGER,
            "test_zone_owned",
        ),
        "set state.url to where that ledger is, or put it back there from a backup; ": (
            _ELSEWHERE,
            "test_zone_owned_before_anything_has_landed",
        ),
    },
}
