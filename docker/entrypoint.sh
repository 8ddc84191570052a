#!/usr/bin/env bash
# What the image runs, as the child of an init process:
#   executor   a Spark executor, described by the variables that Spark on Kubernetes sets
#   driver     an application of spark-submit, with the arguments that Spark on Kubernetes gives in cluster mode
#   otherwise  the command itself
set -euo pipefail

# usage: refuse MESSAGE REMEDY
refuse() {
    echo "$1. Remedy: $2." >&2
    exit 2
}

# usage: require_variables ROLE NAME...
require_variables() {
    local role=$1 name missing=()
    shift
    for name in "$@"; do
        [[ -n "${!name:-}" ]] || missing+=("$name")
    done
    if ((${#missing[@]} > 0)); then
        refuse "the $role lacks ${missing[*]}" "let Spark on Kubernetes start this container, or set what is missing"
    fi
}

# Java takes the user's name from the password file, and Hadoop does not start without one.
name_the_user() {
    local library names
    if getent passwd "$(id -u)" >/dev/null; then
        return
    fi
    for library in /usr/lib/*/libnss_wrapper.so; do
        if [[ -r "$library" ]]; then
            names=$(mktemp -d)
            echo "spark:x:$(id -u):$(id -g):Spark:${HOME:-/tmp}:/usr/sbin/nologin" >"$names/passwd"
            echo "spark:x:$(id -g):" >"$names/group"
            export NSS_WRAPPER_PASSWD=$names/passwd NSS_WRAPPER_GROUP=$names/group LD_PRELOAD=$library
        fi
    done
}

# An executor puts the files that the driver gives it into its working folder.
enter_work_folder() {
    local parent=${SPARK_LOCAL_DIRS:-${TMPDIR:-/tmp}} folder
    parent=${parent%%,*}
    if ! folder=$(mktemp -d "$parent/executor-XXXXXXXX" 2>/dev/null); then
        refuse "the executor cannot write to $parent" "mount a volume or a tmpfs there that uid $(id -u) may write to"
    fi
    cd "$folder"
}

# Sets `command`. The variables are those of Spark's own entrypoint; SPARK_JAVA_OPT_0, _1, ... are in the driver's order.
executor_command() {
    require_variables executor SPARK_DRIVER_URL SPARK_EXECUTOR_ID SPARK_EXECUTOR_CORES SPARK_EXECUTOR_MEMORY \
        SPARK_APPLICATION_ID SPARK_EXECUTOR_POD_IP SPARK_EXECUTOR_POD_NAME
    enter_work_folder
    local number=0 name options=() class_path=$SPARK_CONF_DIR
    while name=SPARK_JAVA_OPT_$number && [[ -n "${!name+set}" ]]; do
        options+=("${!name}")
        number=$((number + 1))
    done
    if [[ -n "${HADOOP_CONF_DIR:-}" ]]; then
        class_path+=:$HADOOP_CONF_DIR
    fi
    class_path+=:$SPARK_HOME/jars/\*
    if [[ -n "${SPARK_EXTRA_CLASSPATH:-}" ]]; then
        class_path+=:$SPARK_EXTRA_CLASSPATH
    fi
    if [[ -n "${SPARK_DIST_CLASSPATH:-}" ]]; then
        class_path+=:$SPARK_DIST_CLASSPATH
    fi
    class_path+=:$PWD
    command=(
        java "${options[@]}" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" -cp "$class_path"
        org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend
        --driver-url "$SPARK_DRIVER_URL"
        --executor-id "$SPARK_EXECUTOR_ID"
        --cores "$SPARK_EXECUTOR_CORES"
        --app-id "$SPARK_APPLICATION_ID"
        --hostname "$SPARK_EXECUTOR_POD_IP"
        --resourceProfileId "${SPARK_RESOURCE_PROFILE_ID:-0}"
        --podName "$SPARK_EXECUTOR_POD_NAME"
    )
}

# Sets `command`.
driver_command() {
    require_variables driver SPARK_DRIVER_BIND_ADDRESS
    command=(
        "$SPARK_HOME/bin/spark-submit"
        --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS"
        --conf "spark.executorEnv.SPARK_DRIVER_POD_IP=$SPARK_DRIVER_BIND_ADDRESS"
        --deploy-mode client
        "$@"
    )
}

if (($# == 0)); then
    refuse "the container was given no command" "give it one, such as cdc-bridge run /etc/cdc-bridge/bridge.yaml"
fi
name_the_user
case $1 in
    executor) executor_command ;;
    driver)
        shift
        driver_command "$@"
        ;;
    *) command=("$@") ;;
esac
# Signals go to the command alone: the bridge ends its own Java when it has finished the batch in hand.
exec tini -s -- "${command[@]}"
